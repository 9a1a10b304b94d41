// Which histograms of a tag show, where they stand on the axis of the curves, and which is chosen.

import type { Format } from "../../../i18n/format";
import type { Texts } from "../../../i18n/en";
import type { Distribution, Histogram } from "../../../api/events";
import { valueText } from "../axis_text";
import type { Span } from "../scale";
import type { Axis } from "../transform";
import { binAt } from "./bars";

export interface View {
  axis: Axis;
  zoom: Span | undefined;
  /** Zero of relative time; undefined: the first of them. */
  start: number | undefined;
}

interface Placed {
  step: number;
  wall: number;
}

export interface Shown<T> {
  all: T[];
  /** Of each, on the axis. */
  places: number[];
}

export function shownOf<T extends Placed>(
  all: readonly T[],
  { axis, zoom, start = all[0]?.wall ?? 0 }: View,
): Shown<T> {
  const placed = all.map((one) => {
    const place = axis === "step" ? one.step : axis === "wall" ? one.wall : one.wall - start;
    return { one, place: Number.isFinite(place) ? place : 0 };
  });
  const within = placed.filter(({ place }) => !zoom || (place >= zoom[0] && place <= zoom[1]));
  return { all: within.map(({ one }) => one), places: within.map(({ place }) => place) };
}

/** TensorBoard's distribution of nothing is nine zeros, as if all values were 0. */
export function withoutHollow(
  distributions: readonly Distribution[],
  histograms: readonly Histogram[],
): Distribution[] {
  const hollow = new Set(histograms.filter(({ total }) => total === 0).map(({ step }) => step));
  return distributions.map((one) =>
    hollow.has(one.step) ? { ...one, values: one.values.map(() => NaN) } : one,
  );
}

/** The newest that is not after `step`; of undefined the newest of all. -1: there is none. */
export function indexOfStep(all: readonly Placed[], step: number | undefined): number {
  if (step === undefined) return all.length - 1;
  return Math.max(all.findLastIndex((one) => one.step <= step), all.length > 0 ? 0 : -1);
}

interface In {
  words: Texts["training"]["hist"];
  format: Format;
}

/** "7,840 values, -0.3 to 0.28, 120 bins" */
export function summaryOf(histogram: Histogram, { words, format }: In): string {
  const { total, min, max, counts } = histogram;
  if (counts.length === 0 || total === 0) return words.nothingCounted;
  if (min === max) return words.constant(format.number(total), valueText(min));
  return [
    words.values(format.number(total)),
    words.fromTo(valueText(min), valueText(max)),
    words.bins(counts.length),
  ].join(", ");
}

export function binText(
  histogram: Histogram,
  value: number,
  { words, format }: In,
): string | undefined {
  const bin = binAt(histogram, value);
  if (bin === undefined) return undefined;
  const count = histogram.counts[bin] ?? 0;
  return words.binAt(
    valueText(histogram.edges[bin]),
    valueText(histogram.edges[bin + 1]),
    format.number(count),
    shareText(count / (histogram.total || 1)),
  );
}

export function shareText(share: number): string {
  return `${valueText(share * 100)} %`;
}
