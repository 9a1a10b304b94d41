// How a job is laid out at the width that there is; jobs.css has the places.

import type { RefObject } from "react";
import { useLayoutEffect, useState } from "react";
import type { JobRow } from "../../api/types";

export type Layout =
  | "wide" // One line each.
  | "medium" // Two lines.
  | "cards"; // A phone.

/** Heights of rows in px: known, so that 5,000 rows need no measuring. Of cards: of full ones. */
export const ROW_HEIGHTS: Record<Layout, number> = { wide: 34, medium: 54, cards: 170 };
// Of a card: name, health, kind and replicas; and each line more. As in jobs.css.
const CARD = 110;
const CARD_LINE = 20;

/** What a job does not have takes no room on its card. */
export function heightOf(layout: Layout, row: JobRow | undefined): number {
  if (layout !== "cards" || !row) return ROW_HEIGHTS[layout];
  const lines = [
    row.progress !== undefined,
    row.message !== "",
    row.owner !== undefined || row.queue !== undefined,
  ];
  return CARD + CARD_LINE * lines.filter((line) => line).length;
}
export const HEADER_HEIGHTS: Record<Layout, number> = { wide: 32, medium: 52, cards: 32 };

// A little more than the sum of the least widths of the columns in jobs.css.
const MEDIUM_FROM = 960;

/** wideFrom: what one line needs. */
export function layoutOf(width: number, wideFrom: number): Layout {
  if (width >= wideFrom) return "wide";
  return width >= MEDIUM_FROM ? "medium" : "cards";
}

export function useLayout(element: RefObject<HTMLElement | null>, wideFrom: number): Layout {
  const [width, setWidth] = useState(MEDIUM_FROM);
  useLayoutEffect(() => {
    if (!element.current) return undefined;
    const observer = new ResizeObserver((entries) => {
      const now = entries.at(-1)?.contentRect.width;
      if (now !== undefined) setWidth(now);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return layoutOf(width, wideFrom);
}
