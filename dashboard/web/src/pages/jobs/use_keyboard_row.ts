// On which row of the table the keyboard is. It is a job, not a place: when the order changes, the
// focus goes along with the row.

import type { FocusEvent, RefObject } from "react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { JobRow } from "../../api/types";

export interface KeyboardRow {
  /** Its index; the nearest one when the job is gone; 0 before the first focus. */
  at: number;
  uid: string | undefined;
  goTo: (index: number) => void;
  onFocus: (row: JobRow) => void;
  onBlur: (event: FocusEvent) => void;
}

export function useKeyboardRow(
  rows: readonly JobRow[],
  scroller: RefObject<HTMLElement | null>,
): KeyboardRow {
  const [wanted, setWanted] = useState({ uid: "", at: 0 });
  // The focus is ours; unlike the document's it survives that the focused row goes.
  const inside = useRef(false);
  const asked = useRef(false);
  const at = useMemo(() => {
    const found = rows.findIndex((row) => row.uid === wanted.uid);
    return found >= 0 ? found : Math.max(0, Math.min(wanted.at, rows.length - 1));
  }, [rows, wanted]);
  const uid = rows[at]?.uid;
  useEffect(() => {
    const lost = inside.current && document.activeElement === document.body;
    if (!asked.current && !lost) return;
    asked.current = false;
    const row = scroller.current?.querySelector<HTMLElement>('[role="row"][tabindex="0"]');
    // The table has scrolled to it already.
    row?.focus({ preventScroll: true });
  });
  const goTo = useCallback(
    (index: number) => {
      const row = rows[index];
      if (!row) return;
      asked.current = true;
      setWanted({ uid: row.uid, at: index });
    },
    [rows],
  );
  const onFocus = useCallback(
    (row: JobRow) => {
      inside.current = true;
      setWanted((before) => {
        if (before.uid === row.uid) return before;
        return { uid: row.uid, at: rows.indexOf(row) };
      });
    },
    [rows],
  );
  const onBlur = useCallback((event: FocusEvent) => {
    // Nothing takes the focus when the window loses it, or when the row is removed.
    if (event.relatedTarget !== null) inside.current = false;
  }, []);
  return { at, uid, goTo, onFocus, onBlur };
}
