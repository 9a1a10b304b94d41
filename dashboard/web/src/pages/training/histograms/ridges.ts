// The histograms of a tag, one behind the other (offset) or all on one axis (overlay).

import type { Histogram } from "../../../api/events";
import type { Span } from "../scale";
import type { Bar, Height, Heights, Scale } from "./bars";
import { barsOf, fractionOf, heightsOf, isCut, mostRange, valueAt } from "./bars";

export type Dot = readonly [x: number, y: number];

export interface Size {
  width: number;
  height: number;
}

export interface RidgeLook {
  stacked: boolean;
  height: Height;
  log: boolean;
}

export interface Ridge {
  /** Of its histogram. */
  index: number;
  /** Its foot, in pixels from above. */
  base: number;
  bars: Bar[];
  /** Its outline: from the foot, through the middle of each bar, to the foot. */
  dots: Dot[];
  /** Its peak is higher than the axis. */
  cut: boolean;
  /** 0, the oldest, … 1, the newest. */
  age: number;
}

export interface RidgeScene {
  size: Size;
  scale: Scale;
  heights: Heights;
  /** Of a bar of full height, in pixels. */
  peak: number;
  /** The oldest, which is behind all others, first. */
  ridges: Ridge[];
  /** Where the oldest and the newest stand, in pixels from above. */
  depth: Span;
  /** Of the axis of depth. */
  places: Span;
  /** Histograms that go beyond the axis of values. */
  wider: number;
}

// Of the height of the picture; the rest is the depth.
const STACKED_PEAK = 0.42;
const FLAT_PEAK = 0.95;

/** undefined: there is nothing to draw. places: of each histogram on the curves' axis. */
export function ridgeScene(
  histograms: readonly Histogram[],
  places: readonly number[],
  size: Size,
  look: RidgeLook,
): RidgeScene | undefined {
  const range = mostRange(histograms);
  if (!range || size.width < 1 || size.height < 1) return undefined;
  const { span, wider } = range;
  const scale = { span, width: size.width };
  const bars = histograms.map((histogram) => barsOf(histogram, scale, look.height));
  const heights = heightsOf(bars, look.log);
  const from = Math.min(...places);
  const to = Math.max(...places);
  const stacked = look.stacked && to > from;
  const peak = size.height * (stacked ? STACKED_PEAK : FLAT_PEAK);
  const depth: Span = stacked ? [peak, size.height] : [size.height, size.height];
  const ridges = bars.map((one, index): Ridge => {
    const part = to > from ? ((places[index] ?? from) - from) / (to - from) : 1;
    const base = depth[0] + part * (depth[1] - depth[0]);
    return {
      index,
      base,
      bars: one,
      dots: outlineOf(one, base, ({ value }) => base - fractionOf(value, heights) * peak),
      cut: isCut(one, heights),
      age: histograms.length > 1 ? index / (histograms.length - 1) : 1,
    };
  });
  // A clock that was set back must not put the new behind the old by index alone.
  ridges.sort((a, b) => a.base - b.base || a.index - b.index);
  return { size, scale, heights, peak, ridges, depth, places: [from, to], wider };
}

function outlineOf(bars: readonly Bar[], base: number, yOf: (bar: Bar) => number): Dot[] {
  const first = bars[0];
  const last = bars.at(-1);
  if (!first || !last) return [];
  // A single bar is as wide as it is.
  if (bars.length === 1) {
    const y = yOf(first);
    const right = Math.max(first.to, first.from + 1);
    return [[first.from, base], [first.from, y], [right, y], [right, base]];
  }
  const middles = bars.map((bar): Dot => [(bar.from + bar.to) / 2, yOf(bar)]);
  return [[first.from, base], ...middles, [last.to, base]];
}

/** Of the outline, at x; undefined: it does not reach there. */
function outlineAt(dots: readonly Dot[], x: number): number | undefined {
  for (let index = 1; index < dots.length; index += 1) {
    const [x0, y0] = dots[index - 1] ?? [0, 0];
    const [x1, y1] = dots[index] ?? [0, 0];
    if (x < x0 || x > x1) continue;
    return x1 === x0 ? Math.min(y0, y1) : y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
  }
  return undefined;
}

export interface RidgeHit {
  /** Of the histogram. */
  index: number;
  /** On the axis of values. */
  value: number;
}

/** The ridge that one points at: the foremost that covers the place, or else the closest line. */
export function ridgeAt(scene: RidgeScene, x: number, y: number): RidgeHit | undefined {
  const { ridges, scale, size, depth } = scene;
  if (x < 0 || x > size.width || y < 0 || y > size.height) return undefined;
  const value = valueAt(x, scale);
  const tops = ridges.map((ridge) => ({
    ridge,
    top: outlineAt(ridge.dots, x) ?? ridge.base,
  }));
  if (depth[0] !== depth[1]) {
    const over = tops.findLast(({ ridge, top }) => y >= top && y <= ridge.base);
    if (over) return { index: over.ridge.index, value };
  }
  let best: { index: number; far: number } | undefined;
  for (const { ridge, top } of tops) {
    const far = Math.abs(top - y);
    // Of two at one place the newer one, which is drawn above.
    if (!best || far <= best.far) best = { index: ridge.index, far };
  }
  return best && { index: best.index, value };
}
