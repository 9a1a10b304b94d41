// The whole message of one row, below it: for the pointer that rests on a cut message and for the
// keyboard's row. Escape closes it, and the pointer may go into it (WCAG 1.4.13).

import type { ReactNode } from "react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Said } from "../../i18n/said";

// A pointer that only passes opens nothing, and one that crosses a gap closes nothing.
const REST_MS = 250;

export interface PeekControl {
  /** Of the row whose message shows. */
  uid: string | undefined;
  /** now: of the keyboard. */
  show: (uid: string, now: boolean) => void;
  hide: () => void;
  /** Unless it is shown again before: the pointer may be on its way into it. */
  hideSoon: () => void;
}

export function usePeek(): PeekControl {
  const [uid, setUid] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = useCallback((next: string, now: boolean) => {
    clearTimeout(timer.current);
    if (now) setUid(next);
    else timer.current = setTimeout(() => setUid(next), REST_MS);
  }, []);
  const hide = useCallback(() => {
    clearTimeout(timer.current);
    setUid(undefined);
  }, []);
  const hideSoon = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setUid(undefined), REST_MS);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (uid === undefined) return undefined;
    // Wherever the focus is: the pointer has opened it without any.
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape") hide();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [uid, hide]);
  return useMemo(() => ({ uid, show, hide, hideSoon }), [uid, show, hide, hideSoon]);
}

/** Whether the row shows less than all of its message. */
export function isMessageCut(row: Element): boolean {
  const texts = [...row.querySelectorAll(".jobs-message .jobs-text")];
  return texts.some((text) => text.scrollWidth > text.clientWidth);
}

/** above: in the lower half of the table, where there is no room below. */
export function MessagePeek({ text, above }: { text: string; above: boolean }): ReactNode {
  // Screen readers have read the whole message in its cell.
  return (
    <div className={above ? "jobs-peek jobs-peek-above" : "jobs-peek"} aria-hidden="true">
      <Said text={text} />
    </div>
  );
}
