// The page scrolls as a whole: what is virtual needs to know where in it it begins, and how wide it
// is.

import type { RefObject } from "react";
import { useLayoutEffect, useState } from "react";

export interface Frame {
  /** From the top of what scrolls, in px. */
  margin: number;
  width: number;
}

export function mainOf(element: HTMLElement | null): HTMLElement | null {
  return element?.closest("main") ?? null;
}

export function useFrame(element: RefObject<HTMLElement | null>): Frame {
  const [frame, setFrame] = useState<Frame>({ margin: 0, width: 0 });
  useLayoutEffect(() => {
    const box = element.current;
    const main = mainOf(box);
    if (!box || !main) return undefined;
    const measure = (): void => {
      const margin =
        box.getBoundingClientRect().top - main.getBoundingClientRect().top + main.scrollTop;
      const width = box.offsetWidth;
      setFrame((before) =>
        before.margin === margin && before.width === width ? before : { margin, width },
      );
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    // What stands above it grows and shrinks.
    for (const child of box.parentElement?.children ?? []) observer.observe(child);
    return () => observer.disconnect();
  });
  return frame;
}
