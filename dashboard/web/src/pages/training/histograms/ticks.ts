// Where an axis has ticks, and what stands beside them.

import type { Format } from "../../../i18n/format";
import { logNumber, SPAN_STEPS, tickNumber, tickPlace } from "../axis_text";
import type { Span } from "../scale";
import { logTicks } from "../scale";
import type { Axis } from "../transform";
import type { Heights } from "./bars";
import { fractionOf } from "./bars";

export interface Tick {
  /** 0 … 1, along the axis. */
  at: number;
  text: string;
}

function multiples(distance: number, [from, to]: Span, offset = 0): number[] {
  const first = Math.ceil((from + offset) / distance - 1e-9);
  const last = Math.floor((to + offset) / distance + 1e-9);
  const ticks: number[] = [];
  // + 0: there is no minus zero on an axis.
  for (let index = first; index <= last; index += 1) ticks.push(index * distance - offset + 0);
  return ticks;
}

/** 1, 2 or 5 times a power of ten, so that there are at most `most`. */
export function niceDistance([from, to]: Span, most: number): number {
  const least = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

export function valueTicks(span: Span, most: number): Tick[] {
  const distance = niceDistance(span, most);
  if (!(distance > 0) || !Number.isFinite(distance)) return [];
  return multiples(distance, span).map((value) => ({
    at: (value - span[0]) / (span[1] - span[0]),
    text: Math.abs(value) < distance / 2 ? "0" : tickNumber(value, distance),
  }));
}

/** Of the horizontal axis of the curves: steps, or lengths of time, or times of the day. */
export function placeTicks(axis: Axis, span: Span, most: number, format: Format): Tick[] {
  const [from, to] = span;
  if (!(to > from)) return [{ at: 0.5, text: tickPlace(axis, from, 1, format) }];
  const least = (to - from) / Math.max(1, most);
  const distance =
    axis === "step"
      ? Math.max(1, niceDistance(span, most))
      : (SPAN_STEPS.find((one) => one >= least) ?? niceDistance(span, most));
  // Hours and days begin where they begin on this person's clock.
  const zone = axis === "wall" ? -60 * new Date(from * 1000).getTimezoneOffset() : 0;
  return multiples(distance, span, zone).map((value) => ({
    at: (value - from) / (to - from),
    text: tickPlace(axis, value, distance, format),
  }));
}

export function heightTicks(heights: Heights, most: number): Tick[] {
  const { top, low } = heights;
  if (low === 0) return valueTicks([0, top], most);
  return logTicks(low, top).map((value) => ({
    at: fractionOf(value, heights),
    text: logNumber(value),
  }));
}
