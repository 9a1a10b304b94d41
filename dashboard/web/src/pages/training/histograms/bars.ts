// A histogram as bars on an axis of pixels.
//
// Bins are as wide as they are: those that are narrower than a pixel are drawn together, so that
// their area stays what it was. Numbers that a person reads never come from here.

import type { Histogram } from "../../../api/events";
import type { Span } from "../scale";

/** density: share of all values per unit of the axis. count: of each bin, however wide it is. */
export type Height = "density" | "count";

export interface Scale {
  span: Span;
  /** In pixels. */
  width: number;
}

export interface Bar {
  /** In pixels. */
  from: number;
  to: number;
  /** Its height, in the unit of `Height`. */
  value: number;
  /** Of all values. */
  share: number;
  /** The bins that are in it. */
  first: number;
  last: number;
}

// Where no finite number is left of a difference.
const LARGEST = 8e307;

function usable(value: number): boolean {
  return Math.abs(value) <= LARGEST;
}

/** Can this bin be drawn? */
export function isDrawable({ edges, counts }: Histogram, bin: number): boolean {
  const left = edges[bin] ?? NaN;
  const right = edges[bin + 1] ?? NaN;
  const count = counts[bin] ?? NaN;
  return usable(left) && usable(right) && right >= left && count >= 0 && Number.isFinite(count);
}

export function binsNotDrawn(histogram: Histogram): number {
  return histogram.counts.filter((_, bin) => !isDrawable(histogram, bin)).length;
}

/** From the first edge to the last of all that can be drawn; undefined: there is nothing. */
export function valueRange(histograms: readonly Histogram[]): Span | undefined {
  let from = Infinity;
  let to = -Infinity;
  let least = Infinity;
  let most = -Infinity;
  for (const histogram of histograms) {
    histogram.counts.forEach((_, bin) => {
      if (!isDrawable(histogram, bin)) return;
      from = Math.min(from, histogram.edges[bin] ?? from);
      to = Math.max(to, histogram.edges[bin + 1] ?? to);
    });
    if (histogram.counts.length === 0) continue;
    least = Math.min(least, histogram.min);
    most = Math.max(most, histogram.max);
  }
  if (from > to) return undefined;
  // Of one value, as of biases before the first step, the edges are as close as they can be: an
  // axis of a billionth would say nothing.
  if (least === most || from === to) {
    const at = least === most ? least : from;
    const room = at === 0 ? 1 : Math.abs(at) * 0.1;
    return [at - room, at + room];
  }
  return [from, to];
}

// The first gradients of a training are often a hundred times as wide as all later ones.
const ORDINARY = 10;
// Of fewer it is not to be said which are the ordinary ones.
const ENOUGH = 5;
// So many at most may be wider than the axis.
const WIDER_SHARE = 0.2;

export interface Range {
  span: Span;
  /** Histograms that go beyond it. */
  wider: number;
}

/** That of most of them: a few that are much wider would leave a spike of each other. */
export function mostRange(histograms: readonly Histogram[]): Range | undefined {
  const whole = valueRange(histograms);
  if (!whole) return undefined;
  const all = histograms.flatMap((one) => rangesOf(one));
  const widths = all.map(([from, to]) => to - from).sort((a, b) => a - b);
  const middle = widths[Math.floor(widths.length / 2)] ?? 0;
  const ordinary = all.filter(([from, to]) => to - from <= ORDINARY * middle);
  const from = Math.min(...ordinary.map((one) => one[0]));
  const to = Math.max(...ordinary.map((one) => one[1]));
  const wider = all.length - ordinary.length;
  const worth = whole[1] - whole[0] > ORDINARY * (to - from) && to > from;
  if (all.length < ENOUGH || wider > WIDER_SHARE * all.length || !worth) {
    return { span: whole, wider: 0 };
  }
  return { span: [from, to], wider };
}

/** None of one that is empty; of one value that value. */
function rangesOf(histogram: Histogram): Span[] {
  const range = valueRange([histogram]);
  if (!range) return [];
  return histogram.min === histogram.max ? [[histogram.min, histogram.min]] : [range];
}

export function placeOf(value: number, { span: [from, to], width }: Scale): number {
  return ((value - from) / (to - from)) * width;
}

export function valueAt(place: number, { span: [from, to], width }: Scale): number {
  return from + (place / width) * (to - from);
}

/** In order, from left to right. */
export function barsOf(histogram: Histogram, scale: Scale, height: Height): Bar[] {
  const { edges, counts } = histogram;
  const total = histogram.total || 1;
  const perPixel = (scale.span[1] - scale.span[0]) / scale.width;
  const bars: Bar[] = [];
  let open: { bar: Bar; count: number; most: number } | undefined;
  const close = (): void => {
    if (!open) return;
    const { bar, count, most } = open;
    const wide = Math.max(1, bar.to - bar.from) * perPixel;
    bars.push({
      ...bar,
      share: count / total,
      value: height === "count" ? most : count / total / wide,
    });
    open = undefined;
  };
  counts.forEach((count, bin) => {
    if (!isDrawable(histogram, bin)) return close();
    const begin = placeOf(edges[bin] ?? 0, scale);
    const end = placeOf(edges[bin + 1] ?? 0, scale);
    // What is beyond the ends of the axis does not show.
    if (end < 0 || begin > scale.width) return close();
    const from = Math.max(0, begin);
    const to = Math.min(scale.width, end);
    const inside = end > begin ? count * ((to - from) / (end - begin)) : count;
    if (to - from >= 1) close();
    if (open) {
      Object.assign(open.bar, { to, last: bin });
      open.count += inside;
      open.most = Math.max(open.most, count);
    } else {
      const bar = { from, to, value: 0, share: 0, first: bin, last: bin };
      open = { bar, count: inside, most: count };
    }
    if (to - open.bar.from >= 1) close();
  });
  close();
  return bars;
}

// What holds so much of all values on so few pixels has no height that others can be drawn beside,
// as the zeros of biases that have not been trained yet.
const SPIKE_SHARE = 0.1;
const SPIKE_PIXELS = 2;

function isSpike({ from, to, share }: Bar): boolean {
  return share >= SPIKE_SHARE && to - from <= SPIKE_PIXELS;
}

export interface Heights {
  /** What a bar of full height has. */
  top: number;
  /** What is drawn at the foot of a logarithmic axis; 0: the axis is linear. */
  low: number;
}

// More than this many times lower than the highest: a line at the foot.
const LOG_RANGE = 1e6;

/** Bars that are higher than `top` are cut off. */
export function heightsOf(all: readonly (readonly Bar[])[], log: boolean): Heights {
  let top = 0;
  let spike = 0;
  let low = Infinity;
  for (const bar of all.flat()) {
    if (isSpike(bar)) spike = Math.max(spike, bar.value);
    else top = Math.max(top, bar.value);
    if (bar.value > 0) low = Math.min(low, bar.value);
  }
  if (top === 0) top = spike || 1;
  if (!log) return { top, low: 0 };
  // The lowest bar stands above the foot.
  return { top, low: Math.max(top / LOG_RANGE, Math.min(low, top) / 2) };
}

/** 0 … 1, of the full height. */
export function fractionOf(value: number, { top, low }: Heights): number {
  if (!(value > 0)) return 0;
  const part = low > 0 ? Math.log(value / low) / Math.log(top / low) : value / top;
  return Math.min(1, Math.max(0, part));
}

export function isCut(bars: readonly Bar[], { top }: Heights): boolean {
  return bars.some(({ value }) => value > top);
}

/** The bin that `value` is in. The last one has its right edge too. */
export function binAt({ edges, counts }: Histogram, value: number): number | undefined {
  const bin = counts.findIndex((_, index) => {
    const left = edges[index] ?? NaN;
    const right = edges[index + 1] ?? NaN;
    return value >= left && (value < right || (index === counts.length - 1 && value === right));
  });
  return bin < 0 ? undefined : bin;
}
