// How the spread of a tag's values changes over steps: nine lines, the space between them filled.

import type { Distribution } from "../../../api/events";
import type { Span } from "../scale";
import { padded } from "../scale";
import type { Dot, Size } from "./ridges";

/** Pairs of basis points around the middle one, the widest first. */
export const BANDS: readonly (readonly [number, number])[] = [
  [0, 8],
  [1, 7],
  [2, 6],
  [3, 5],
];
export const MIDDLE = 4;

export interface BandPoint {
  index: number;
  x: number;
  /** At each basis point, in pixels from above. */
  y: number[];
}

export interface BandScene {
  size: Size;
  places: Span;
  values: Span;
  /** Without gaps within: a distribution that is no number is between two of them. */
  parts: BandPoint[][];
}

/** undefined: there is nothing to draw. */
export function bandScene(
  distributions: readonly Distribution[],
  places: readonly number[],
  size: Size,
): BandScene | undefined {
  const good = distributions.map(({ values }) => values.every(Number.isFinite));
  const shown = distributions.filter((_, index) => good[index]);
  const across = places.filter((_, index) => good[index]);
  if (shown.length === 0 || size.width < 1 || size.height < 1) return undefined;
  const all = shown.flatMap(({ values }) => values);
  const values = padded(least(all), most(all));
  const [from, to]: Span = [least(across), most(across)];
  const point = (index: number): BandPoint => ({
    index,
    x: to > from ? (((places[index] ?? from) - from) / (to - from)) * size.width : size.width / 2,
    y: (distributions[index]?.values ?? []).map(
      (value) => size.height * (1 - (value - values[0]) / (values[1] - values[0])),
    ),
  });
  const parts: BandPoint[][] = [];
  good.forEach((one, index) => {
    if (!one) return;
    if (good[index - 1]) parts.at(-1)?.push(point(index));
    else parts.push([point(index)]);
  });
  return { size, places: [from, to], values, parts };
}

// Math.min(...values) has a limit of arguments.
function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}
function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

// A part of one point is no area.
const LONE = 2;

/** There along one line and back along the other. */
export function bandOutline(part: readonly BandPoint[], [low, high]: readonly [number, number]) {
  const points =
    part.length > 1
      ? part
      : part.flatMap((point) => [-LONE, LONE].map((by) => ({ ...point, x: point.x + by })));
  const there = points.map(({ x, y }): Dot => [x, y[high] ?? 0]);
  const back = points.map(({ x, y }): Dot => [x, y[low] ?? 0]);
  return [...there, ...back.reverse()];
}

export function bandLine(part: readonly BandPoint[], basis: number): Dot[] {
  const [one] = part;
  if (part.length > 1 || !one) return part.map(({ x, y }): Dot => [x, y[basis] ?? 0]);
  return [-LONE, LONE].map((by): Dot => [one.x + by, one.y[basis] ?? 0]);
}

/** The closest point, from the left. */
export function bandAt({ parts, size }: BandScene, x: number): BandPoint | undefined {
  if (x < 0 || x > size.width) return undefined;
  let best: BandPoint | undefined;
  for (const point of parts.flat()) {
    if (!best || Math.abs(point.x - x) < Math.abs(best.x - x)) best = point;
  }
  return best;
}
