// On which square the keyboard is. It is a replica, not a place: after scaling the focus stays with
// it.

import type { FocusEvent, RefObject } from "react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Replica } from "../../../api/types";
import { replicaName } from "../names";

export interface CurrentSquare {
  /** Of the list of replicas; the nearest one when it is gone. */
  at: number;
  goTo: (at: number) => void;
  onFocus: (name: string) => void;
  onBlur: (event: FocusEvent) => void;
}

export function useCurrentSquare(
  replicas: readonly Replica[],
  scroller: RefObject<HTMLElement | null>,
): CurrentSquare {
  const [wanted, setWanted] = useState({ name: "", at: 0 });
  const asked = useRef(false);
  // The focus is ours; unlike the document's it survives that the focused square goes.
  const inside = useRef(false);
  const at = useMemo(() => {
    if (wanted.name === "") return 0;
    const there = replicas[wanted.at];
    if (there && replicaName(there) === wanted.name) return wanted.at;
    const found = replicas.findIndex((replica) => replicaName(replica) === wanted.name);
    return found >= 0 ? found : Math.max(0, Math.min(wanted.at, replicas.length - 1));
  }, [replicas, wanted]);
  useEffect(() => {
    const lost = inside.current && document.activeElement === document.body;
    if (!asked.current && !lost) return;
    asked.current = false;
    const square = scroller.current?.querySelector<HTMLElement>('[role="gridcell"][tabindex="0"]');
    // The grid has scrolled to it already.
    square?.focus({ preventScroll: true });
  });
  const choose = useCallback(
    (index: number) => {
      const replica = replicas[index];
      if (replica) setWanted({ name: replicaName(replica), at: index });
    },
    [replicas],
  );
  const goTo = useCallback(
    (index: number) => {
      asked.current = true;
      choose(index);
    },
    [choose],
  );
  const onFocus = useCallback(
    (name: string) => {
      inside.current = true;
      if (name === wanted.name) return;
      choose(replicas.findIndex((replica) => replicaName(replica) === name));
    },
    [replicas, wanted.name, choose],
  );
  const onBlur = useCallback((event: FocusEvent) => {
    // Nothing takes the focus when the window loses it, or when the square is removed.
    if (event.relatedTarget !== null) inside.current = false;
  }, []);
  return { at, goTo, onFocus, onBlur };
}
