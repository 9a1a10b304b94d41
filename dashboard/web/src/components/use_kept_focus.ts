// Which of many items has the keyboard's focus. It is an item, not a place: when the order changes,
// the focus goes along with it, and when it goes, the focus goes to the nearest one.
//
//   const focus = useKeptFocus(uids, scroller, '[role="row"][tabindex="0"]');

import type { FocusEvent, RefObject } from "react";
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";

export interface KeptFocus {
  /** Its index; the nearest one when the item is gone; 0 before the first focus. */
  at: number;
  goTo: (index: number) => void;
  onFocus: (key: string) => void;
  onBlur: (event: FocusEvent) => void;
}

/** selector: what the item `at` is within the scroller, for one that can be scrolled away. */
export function useKeptFocus(
  keys: readonly string[],
  scroller: RefObject<HTMLElement | null>,
  selector: string,
): KeptFocus {
  const [wanted, setWanted] = useState({ key: "", at: 0 });
  // The focus is ours; unlike the document's it survives that the focused item goes.
  const inside = useRef(false);
  const asked = useRef(false);
  const at = useMemo(() => {
    if (keys[wanted.at] === wanted.key) return wanted.at;
    const found = keys.indexOf(wanted.key);
    return found >= 0 ? found : Math.max(0, Math.min(wanted.at, keys.length - 1));
  }, [keys, wanted]);
  // Before anybody can see, or type, while the focus is nowhere.
  useLayoutEffect(() => {
    const lost = inside.current && document.activeElement === document.body;
    if (!asked.current && !lost) return;
    asked.current = false;
    // It has been scrolled to already.
    scroller.current?.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
  });
  const goTo = useCallback(
    (index: number) => {
      const key = keys[index];
      if (key === undefined) return;
      asked.current = true;
      setWanted({ key, at: index });
    },
    [keys],
  );
  const onFocus = useCallback(
    (key: string) => {
      inside.current = true;
      setWanted((before) => (before.key === key ? before : { key, at: keys.indexOf(key) }));
    },
    [keys],
  );
  const onBlur = useCallback((event: FocusEvent) => {
    // Nothing takes the focus when the window loses it, or when the item is removed.
    if (event.relatedTarget !== null) inside.current = false;
  }, []);
  return { at, goTo, onFocus, onBlur };
}
