// The card of one square: for the pointer that rests on it and for the keyboard's square. The
// pointer may go into the card, Escape closes it (WCAG 1.4.13).

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Spot } from "./layout";

// From a square into its card there is a gap.
const LEAVE_MS = 200;

export interface Card {
  spot: Spot;
  /** Of the square, in the window. */
  at: { left: number; top: number; right: number; bottom: number };
}

export interface CardControl {
  card: Card | undefined;
  show: (spot: Spot, square: Element) => void;
  /** The pointer has left. */
  leave: () => void;
  /** The pointer is in the card. */
  stay: () => void;
  hide: () => void;
}

export function useCard(): CardControl {
  const [card, setCard] = useState<Card>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stay = useCallback(() => clearTimeout(timer.current), []);
  const show = useCallback((spot: Spot, square: Element) => {
    clearTimeout(timer.current);
    const { left, top, right, bottom } = square.getBoundingClientRect();
    setCard({ spot, at: { left, top, right, bottom } });
  }, []);
  const hide = useCallback(() => {
    clearTimeout(timer.current);
    setCard(undefined);
  }, []);
  const leave = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCard(undefined), LEAVE_MS);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useMemo(
    () => ({ card, show, leave, stay, hide }),
    [card, show, leave, stay, hide],
  );
}
