// What a key does on a chart: it moves the cursor along the points, or zooms around it.

import type { Span } from "./scale";
import { zoomed } from "./scale";

interface Where {
  places: readonly number[];
  /** In view. */
  x: Span;
  all: Span;
  /** Of the cursor; null: nowhere. */
  index: number | null;
}

type Move = { index: number } | { zoom: Span | undefined };

const IN = 0.5;
const OUT = 2;
// Of the points in view.
const PAGE = 0.1;

export function keyMove(
  event: { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean },
  where: Where,
): Move | undefined {
  // Those belong to the browser, as Ctrl and + does.
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const { x, all, places, index } = where;
  const first = places.findIndex((place) => place >= x[0]);
  const last = places.findLastIndex((place) => place <= x[1]);
  if (first < 0 || last < first) return undefined;
  const here = Math.min(last, Math.max(first, index ?? last));
  const page = Math.max(1, Math.round((last - first) * PAGE));
  const at = places[here] ?? x[1];
  const to = (wanted: number): Move => ({ index: Math.min(last, Math.max(first, wanted)) });
  switch (event.key) {
    case "ArrowLeft":
    case "ArrowDown":
      return to(index === null ? here : here - 1);
    case "ArrowRight":
    case "ArrowUp":
      return to(index === null ? here : here + 1);
    case "PageDown":
      return to(here - page);
    case "PageUp":
      return to(here + page);
    case "Home":
      return to(first);
    case "End":
      return to(last);
    case "+":
    case "=":
      return { zoom: zoomed(x, at, IN, all) };
    case "-":
      return { zoom: zoomed(x, at, OUT, all) };
    case "0":
    case "Escape":
      return { zoom: undefined };
    default:
      return undefined;
  }
}
