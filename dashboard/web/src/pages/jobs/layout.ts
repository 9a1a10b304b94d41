// How a job is laid out at the width that there is; jobs.css has the places.

import type { RefObject } from "react";
import { useLayoutEffect, useState } from "react";

export type Layout =
  | "wide" // One line each.
  | "medium" // Two lines.
  | "cards"; // A phone.

/** Heights of rows in px: fixed, so that 5,000 rows need no measuring. */
export const ROW_HEIGHTS: Record<Layout, number> = { wide: 34, medium: 54, cards: 170 };
export const HEADER_HEIGHTS: Record<Layout, number> = { wide: 32, medium: 52, cards: 32 };

// A little more than the sums of the least widths of the columns in jobs.css.
const WIDE_FROM = 1660;
const MEDIUM_FROM = 960;

export function layoutOf(width: number): Layout {
  if (width >= WIDE_FROM) return "wide";
  return width >= MEDIUM_FROM ? "medium" : "cards";
}

export function useLayout(element: RefObject<HTMLElement | null>): Layout {
  const [layout, setLayout] = useState<Layout>("medium");
  useLayoutEffect(() => {
    if (!element.current) return undefined;
    const observer = new ResizeObserver((entries) => {
      const width = entries.at(-1)?.contentRect.width;
      if (width !== undefined) setLayout(layoutOf(width));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return layout;
}
