import { describe, expect, test } from "vitest";
import { en } from "../../../i18n/en";
import { newFormat } from "../../../i18n/format";
import { histogram } from "./fixture";
import { distributionsCsv, histogramsCsv } from "./histogram_csv";
import { binText, indexOfStep, shownOf, summaryOf, withoutHollow } from "./shown";
import { tagOf } from "./fixture";

const say = { words: en.training.hist, format: newFormat("en", en) };
const ALL = [0, 100, 200].map((step) => histogram(step, [0, 1, 2], [1, 3]));

describe("what shows", () => {
  test("stands on the axis of the curves", () => {
    const places = (axis: "step" | "relative" | "wall", start?: number) =>
      shownOf(ALL, { axis, zoom: undefined, start }).places;
    expect(places("step")).toEqual([0, 100, 200]);
    expect(places("wall")).toEqual([1000, 1100, 1200]);
    expect(places("relative")).toEqual([0, 100, 200]);
    expect(places("relative", 990)).toEqual([10, 110, 210]);
  });

  test("is what the zoom of the curves leaves", () => {
    const { all } = shownOf(ALL, { axis: "wall", zoom: [1050, 1150], start: undefined });
    expect(all.map(({ step }) => step)).toEqual([100]);
  });

  test("is the step that is chosen, or the last before it, or the newest", () => {
    expect([0, 100, 150, 900].map((step) => indexOfStep(ALL, step))).toEqual([0, 1, 1, 2]);
    expect(indexOfStep(ALL, undefined)).toBe(2);
    expect(indexOfStep(ALL, -5)).toBe(0);
    expect(indexOfStep([], undefined)).toBe(-1);
    expect(indexOfStep([], 3)).toBe(-1);
  });

  test("of a distribution of nothing is nothing, not zero", () => {
    const zeros = [0, 100].map((step) => ({ step, wall: step, values: [0, 0] }));
    const shown = withoutHollow(zeros, [histogram(0, [], []), histogram(100, [0, 0], [3])]);
    expect(shown.map(({ values }) => values[0])).toEqual([NaN, 0]);
  });
});

describe("in words", () => {
  test("a histogram is its count, its ends and its bins", () => {
    expect(summaryOf(histogram(0, [0, 1, 2], [1, 3]), say)).toBe("4 values, 0 to 2, 2 bins");
    expect(summaryOf(histogram(0, [], []), say)).toBe("No values were counted.");
    const zeros = histogram(0, [0, 1e-12], [128], { min: 0, max: 0 });
    expect(summaryOf(zeros, say)).toBe("All 128 values are 0");
  });

  test("a place is the bin that it is in", () => {
    expect(binText(histogram(0, [0, 1, 2], [1, 3]), 1.2, say)).toBe("1 … 2: 3 (75 %)");
    expect(binText(histogram(0, [0, 1, 2], [1, 3]), 9, say)).toBeUndefined();
  });
});

test("the file has every bin with its true edges", () => {
  const all = [histogram(7, [0.1, 0.30000000000000004, "Infinity"], [1, 2])];
  expect(histogramsCsv(tagOf("a/w"), all)).toBe(
    "run,tag,step,wall_time,from,to,count\n" +
      ".,a/w,7,1007,0.1,0.30000000000000004,1\n" +
      ".,a/w,7,1007,0.30000000000000004,Infinity,2\n",
  );
  const nine = [{ step: 1, wall: 2, values: [1, 2, 3, 4, 5, 6, 7, 8, 9] }];
  expect(distributionsCsv(tagOf("w"), nine).split("\n").slice(0, 2)).toEqual([
    "run,tag,step,wall_time,p0,p6.68,p15.87,p30.85,p50,p69.15,p84.13,p93.32,p100",
    ".,w,1,2,1,2,3,4,5,6,7,8,9",
  ]);
});
