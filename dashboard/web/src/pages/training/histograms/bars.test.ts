import { describe, expect, test } from "vitest";
import {
  barsOf,
  binAt,
  binsNotDrawn,
  fractionOf,
  heightsOf,
  isCut,
  placeOf,
  valueAt,
  mostRange,
  valueRange,
} from "./bars";
import { histogram } from "./fixture";

const area = (bars: { from: number; to: number; value: number }[], perPixel: number): number =>
  bars.reduce((sum, { from, to, value }) => sum + Math.max(1, to - from) * perPixel * value, 0);

describe("bars", () => {
  test("are as wide as their bins, and as high as their density", () => {
    const one = histogram(0, [0, 1, 4], [10, 30]);
    const bars = barsOf(one, { span: [0, 4], width: 400 }, "density");
    expect(bars.map(({ from, to }) => [from, to])).toEqual([[0, 100], [100, 400]]);
    expect(bars.map(({ value }) => value)).toEqual([0.25, 0.25]);
    expect(bars.map(({ share }) => share)).toEqual([0.25, 0.75]);
  });

  test("have the count of the bin as height where that is wanted, however wide it is", () => {
    const one = histogram(0, [0, 1, 4], [10, 30]);
    const bars = barsOf(one, { span: [0, 4], width: 400 }, "count");
    expect(bars.map(({ value }) => value)).toEqual([10, 30]);
  });

  test("of bins narrower than a pixel are drawn together, with the same area", () => {
    const edges = Array.from({ length: 1501 }, (_, index) => index / 1500);
    const one = histogram(0, edges, edges.slice(1).map((_, index) => index % 7));
    const bars = barsOf(one, { span: [0, 1], width: 300 }, "density");
    expect(bars.length).toBeLessThanOrEqual(300);
    // The last one is what is left.
    expect(bars.slice(0, -1).every(({ from, to }) => to - from >= 1 - 1e-9)).toBe(true);
    expect(area(bars, 1 / 300)).toBeCloseTo(1, 6);
    // Each bin is in one bar.
    expect(bars[0]?.first).toBe(0);
    expect(bars.at(-1)?.last).toBe(1499);
    bars.slice(1).forEach((bar, index) => expect(bar.first).toBe((bars[index]?.last ?? 0) + 1));
    const counts = barsOf(one, { span: [0, 1], width: 300 }, "count");
    expect(Math.max(...counts.map(({ value }) => value))).toBe(6);
  });

  test("of a bin without width are a pixel wide", () => {
    const one = histogram(0, [0.5, 0.5], [7]);
    const bars = barsOf(one, { span: [0, 1], width: 100 }, "density");
    expect(bars).toEqual([{ from: 50, to: 50, value: 100, share: 1, first: 0, last: 0 }]);
  });

  test("leave out what is no number, and say how much", () => {
    const one = histogram(0, ["NaN", 0, 1, 2, "Infinity"], [1, 2, "NaN", 4]);
    const bars = barsOf(one, { span: [0, 2], width: 100 }, "count");
    expect(bars.map(({ value }) => value)).toEqual([2]);
    expect(binsNotDrawn(one)).toBe(3);
    expect(one.total).toBe(7);
  });
});

describe("the axis of values", () => {
  test("runs from the first edge to the last, also below zero", () => {
    const all = [histogram(0, [-3, -2, -1], [1, 1]), histogram(1, [-5, -4], [1])];
    expect(valueRange(all)).toEqual([-5, -1]);
    expect(valueRange([])).toBeUndefined();
    expect(valueRange([histogram(0, [], [])])).toBeUndefined();
    expect(valueRange([histogram(0, [-1.7e308, 1.7e308], [1])])).toBeUndefined();
  });

  test("has room around a single value, however close the edges are", () => {
    const zeros = histogram(0, [0, 1e-12], [128], { min: 0, max: 0 });
    expect(valueRange([zeros])).toEqual([-1, 1]);
    const five = histogram(0, [-5, -5], [1]);
    expect(valueRange([five])).toEqual([-5.5, -4.5]);
  });

  test("leads from values to pixels and back", () => {
    const scale = { span: [-2, 2] as const, width: 200 };
    expect(placeOf(1, scale)).toBe(150);
    expect(valueAt(150, scale)).toBe(1);
  });
});

describe("heights", () => {
  const wide = barsOf(
    histogram(1, [-1, 0, 1], [50, 50]),
    { span: [-1, 1], width: 400 },
    "density",
  );
  const zeros = barsOf(
    histogram(0, [0, 1e-12], [128], { min: 0, max: 0 }),
    { span: [-1, 1], width: 400 },
    "density",
  );

  test("are not flattened by a peak on a single pixel, which is cut off", () => {
    const heights = heightsOf([zeros, wide], false);
    expect(heights).toEqual({ top: 0.5, low: 0 });
    expect(isCut(zeros, heights)).toBe(true);
    expect(isCut(wide, heights)).toBe(false);
    expect(fractionOf(zeros[0]?.value ?? 0, heights)).toBe(1);
    // Where there is nothing else it is the measure.
    expect(isCut(zeros, heightsOf([zeros], false))).toBe(false);
  });

  test("of a logarithmic axis leave the lowest above the foot, and zero on it", () => {
    const one = histogram(0, [0, 1, 2, 3], [1, 0, 100]);
    const bars = barsOf(one, { span: [0, 3], width: 90 }, "count");
    const heights = heightsOf([bars], true);
    expect(heights).toEqual({ top: 100, low: 0.5 });
    expect(fractionOf(100, heights)).toBe(1);
    expect(fractionOf(1, heights)).toBeCloseTo(Math.log(2) / Math.log(200));
    expect(fractionOf(0, heights)).toBe(0);
    expect(fractionOf(NaN, heights)).toBe(0);
  });

  test("of nothing are a bare axis", () => {
    expect(heightsOf([], false)).toEqual({ top: 1, low: 0 });
    expect(heightsOf([[]], true).low).toBeLessThan(1);
  });
});

test("a value is in the bin that begins with it; the last bin has its end too", () => {
  const one = histogram(0, [0, 1, 2], [1, 1]);
  expect([-0.1, 0, 0.99, 1, 2, 2.1].map((value) => binAt(one, value))).toEqual([
    ...[undefined, 0, 0, 1, 1, undefined],
  ]);
});

// Symptom: 50 of 51 histograms of gradients were one black spike, since the first step, which was a
// thousand times as wide, set the axis.
describe("the axis of many histograms", () => {
  const small = Array.from({ length: 9 }, (_, i) => histogram(i + 1, [-1 - i / 10, 1], [3]));

  test("is that of most of them, and it is said how many go beyond it", () => {
    const all = [histogram(0, [-1000, 1000], [3]), ...small];
    expect(mostRange(all)).toEqual({ span: [-1.8, 1], wider: 1 });
    // What is within the axis is drawn, from end to end.
    const [bar] = barsOf(all[0]!, { span: [-1.8, 1], width: 100 }, "density");
    expect([bar?.from, bar?.to]).toEqual([0, 100]);
    expect(bar?.share).toBeCloseTo(2.8 / 2000);
    // And nothing of what is not.
    expect(barsOf(histogram(0, [5, 6], [3]), { span: [-1.8, 1], width: 100 }, "count")).toEqual([]);
  });

  test("is that of all where they differ less, or are few, or many are wide", () => {
    expect(mostRange([histogram(0, [-9, 9], [3]), ...small])).toEqual({ span: [-9, 9], wider: 0 });
    const few = [histogram(0, [-1000, 1000], [3]), ...small.slice(0, 3)];
    expect(mostRange(few)).toEqual({ span: [-1000, 1000], wider: 0 });
    const many = [...small, ...small.map((_, i) => histogram(i, [-1000, 1000], [3]))];
    expect(mostRange(many)).toEqual({ span: [-1000, 1000], wider: 0 });
    expect(mostRange([])).toBeUndefined();
  });

  test("zeros before the first step are not wider than what follows", () => {
    const zeros = histogram(0, [-1e-9, 1e-9], [7], { min: 0, max: 0 });
    expect(mostRange([zeros, ...small])).toEqual({ span: [-1.8, 1], wider: 0 });
  });
});
