import { describe, expect, test } from "vitest";
import { summaryOf } from "../history/curve_summary";
import { csvOf, fileName } from "./csv";
import type { ChartLine, Point } from "./curves";
import { chartsOf, newRun, rangeOf, startOf, tagFilter } from "./curves";
import { keyMove } from "./keys";
import { lineStyle, RUNS_MAX } from "./line_style";
import { inView, logTicks, placeSpan, valueSpan, zoomed } from "./scale";
import { smooth, SMOOTHED_POINTS_MIN, smoothingUnit } from "./smoothing";
import { logNumber, tickNumber } from "./axis_text";
import { align, plotLine } from "./transform";
import { DARK, LIGHT } from "../../app/palette";

const close = (actual: number[], wanted: number[]): void => {
  expect(actual).toHaveLength(wanted.length);
  actual.forEach((value, index) => expect(value).toBeCloseTo(wanted[index] ?? NaN, 10));
};

function line(points: Point[], more: Partial<ChartLine> = {}): ChartLine {
  return { id: "a", label: "a", run: 0, ofTest: false, points, start: 100, ...more };
}

/** [step, value] of a curve. */
function curveOf(...points: [number, number][]): Point[] {
  return points.map(([step, value]) => [step, step, value]);
}

/** A loss that falls from 5.5 by a half every `half` steps. */
function falling(steps: number[], half = 80): Point[] {
  return curveOf(...steps.map((step): [number, number] => [step, 5.5 * 0.5 ** (step / half)]));
}

function every(gap: number, last: number): number[] {
  return Array.from({ length: last / gap + 1 }, (_, index) => index * gap);
}

describe("smoothing", () => {
  test("weighs a line by distance, freed of its start at zero", () => {
    // By hand of a rise by 1 a unit: the mean of e^-(d/τ) over the way so far lags by
    // τ - d·q/(1 - q), where τ = 1/ln(1/0.6) = 1.957615 and q = 0.6^d after d units.
    const values = smooth(curveOf([0, 0], [10, 1], [20, 2]), 0.6, 10);
    close(values, [0, 1 - 1.9576151889712172 + 1.5, 2 - 1.9576151889712172 + 1.125]);
  });

  test("is the same of a straight line whatever points it has", () => {
    const few = smooth(curveOf([0, 8], [30, 2], [40, 0]), 0.6, 10);
    const points = curveOf([0, 8], [5, 7], [10, 6], [25, 3], [30, 2], [35, 1], [40, 0]);
    const many = smooth(points, 0.6, 10);
    close([few[1] ?? NaN, few[2] ?? NaN], [many[4] ?? NaN, many[6] ?? NaN]);
  });

  test("is not undone by points that lie close together, nor by one twice at a step", () => {
    const values = smooth(curveOf([0, 4], [1e-9, 5], [1e-9, 4], [10, 4]), 0.6, 10);
    close(values, [4, 4.5, 4.5, 4]);
  });

  test("leaves equal values and weight 0 as they are", () => {
    expect(smooth(curveOf([1, 0.1], [2, 0.1], [3, 0.1]), 0.9, 1)).toEqual([0.1, 0.1, 0.1]);
    expect(smooth(curveOf([1, 3], [2, 1]), 0, 1)).toEqual([3, 1]);
  });

  test("passes what is no number, which does not spoil what follows", () => {
    const values = smooth(curveOf([0, 1], [10, NaN], [20, 2]), 0.6, 10);
    expect(values[1]).toBeNaN();
    const without = smooth(curveOf([0, 1], [20, 2]), 0.6, 10);
    close([values[0] ?? NaN, values[2] ?? NaN], without);
  });

  const lastSmooth = (lines: ChartLine[]): number[] => {
    const unit = smoothingUnit(lines);
    const look = { axis: "step", weight: 0.6, log: false, unit } as const;
    return lines.map((one) => plotLine(one, look).smooth.at(-1) ?? NaN);
  };

  // Symptom: of two runs that ended at 0.4072 and 0.4314 the bold curve of the better one ended at
  // 0.8 and that of the worse one at 0.6: it had fewer points, and the average began at 5.5.
  test("of two runs leaves the better one below, whatever points they have", () => {
    const better: [number, number][] = [
      ...([[1, 5.537], [100, 1.821], [200, 1.239]] as [number, number][]),
      ...([[300, 0.574], [400, 0.471], [600, 0.4072]] as [number, number][]),
    ];
    const worse: [number, number][] = [
      ...([[1, 5.537], [33, 3.005], [100, 1.857], [200, 0.991]] as [number, number][]),
      ...([[300, 0.559], [400, 0.452], [500, 0.426], [600, 0.4314]] as [number, number][]),
    ];
    const lines = [better, worse].map((points) => line(curveOf(...points)));
    expect(lastSmooth(lines)).toEqual([0.4072, 0.4314]);
  });

  test("of longer runs keeps their order at the end, by the same lag in steps", () => {
    for (const [better, worse] of [[10, 50], [50, 10]] as const) {
      const points = falling(every(worse, 600));
      const above = points.map(([step, time, value]): Point => [step, time, value * 1.06]);
      const [a = NaN, b = NaN] = lastSmooth([line(falling(every(better, 600))), line(above)]);
      expect(a).toBeLessThan(b);
    }
  });

  // Symptom: the evaluator's curve lay above that of the training, while its points lay on it.
  test("leaves test data as it is", () => {
    const train = line(falling(every(10, 300)));
    const test = line(falling(every(20, 300)), { ofTest: true });
    expect(lastSmooth([train, test])[1]).toBe(test.points.at(-1)?.[2]);
    expect(lastSmooth([train, test])[0]).toBeGreaterThan(train.points.at(-1)?.[2] ?? NaN);
  });

  test("is none of a chart in which a curve has few points, and goes by the closest one", () => {
    const short = line(falling(every(10, 10 * (SMOOTHED_POINTS_MIN - 2))));
    const long = line(falling(every(10, 10 * (SMOOTHED_POINTS_MIN - 1))));
    expect(smoothingUnit([long, short])).toBeUndefined();
    expect(smoothingUnit([long, line(short.points as Point[], { ofTest: true })])).toBe(10);
    expect(smoothingUnit([long, line(falling(every(50, 600)))])).toBe(10);
    expect(smoothingUnit([])).toBeUndefined();
  });
});

describe("a line", () => {
  const points: Point[] = [
    [10, 105, 1],
    [20, 115, NaN],
    [30, 112, -1],
  ];

  test("stands on steps, on time since the start, or on the clock's time", () => {
    const x = (axis: "step" | "relative" | "wall"): number[] =>
      plotLine(line(points), { axis, weight: 0, log: false, unit: undefined }).x;
    expect(x("step")).toEqual([10, 20, 30]);
    // The clock went back between the last two.
    expect(x("relative")).toEqual([5, 12, 15]);
    expect(x("wall")).toEqual([105, 112, 115]);
  });

  test("has gaps at NaN, and at what a log scale cannot show", () => {
    const linear = plotLine(line(points), { axis: "step", weight: 0, log: false, unit: undefined });
    expect([linear.raw, linear.gaps]).toEqual([[1, null, -1], [20]]);
    const log = plotLine(line(points), { axis: "step", weight: 0, log: true, unit: undefined });
    expect([log.raw, log.gaps]).toEqual([
      [1, null, null],
      [20, 30],
    ]);
  });

  test("goes on where only another one has a point", () => {
    const look = { axis: "step", weight: 0, log: false, unit: undefined } as const;
    const a = plotLine(line([[1, 1, 5], [3, 3, NaN]]), look);
    const b = plotLine(line([[2, 2, 7]]), look);
    expect(align([a, b])).toEqual({
      x: [1, 2, 3],
      columns: [
        [5, undefined, null],
        [5, undefined, null],
        [undefined, 7, undefined],
        [undefined, 7, undefined],
      ],
    });
  });
});

describe("the scale", () => {
  test("has room around the values, also around a single one", () => {
    const [low, high] = valueSpan([0, 10], { log: false, outliers: false });
    expect([low, high]).toEqual([-0.6, 10.6]);
    expect(valueSpan([5], { log: false, outliers: false })).toEqual([4.5, 5.5]);
    expect(valueSpan([], { log: true, outliers: false })).toEqual([1, 10]);
  });

  test("does not stretch for outliers when they are to be ignored", () => {
    const values = [...Array.from({ length: 99 }, (_, index) => index / 100), 1e6];
    expect(valueSpan(values, { log: false, outliers: true })[1]).toBeLessThan(1.1);
    expect(valueSpan(values, { log: false, outliers: false })[1]).toBeGreaterThan(1e6);
  });

  test("stays positive on a log scale", () => {
    const [low, high] = valueSpan([1, 1], { log: true, outliers: false });
    expect(low).toBeGreaterThan(0);
    expect(high).toBeGreaterThan(low);
  });

  test("looks at the values in view only", () => {
    expect(inView([1, 2, 3], [[9, null, 4], [undefined, 5, 6]], [2, 3])).toEqual([5, 4, 6]);
    expect(placeSpan([7])).toEqual([6, 8]);
  });

  test("zooms around a place and never beyond all there is", () => {
    expect(zoomed([0, 100], 50, 0.5, [0, 100])).toEqual([25, 75]);
    expect(zoomed([25, 75], 50, 2, [0, 100])).toBeUndefined();
    expect(zoomed([0, 50], 0, 1.5, [0, 100])).toEqual([0, 75]);
  });

  test("has logarithmic lines at 1, 2, 5 or at whole decades", () => {
    expect(logTicks(0.9, 60)).toEqual([1, 2, 5, 10, 20, 50]);
    expect(logTicks(1e-6, 1)).toEqual([1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1]);
    expect(logTicks(1e-30, 1).length).toBeLessThan(11);
  });

  test("writes as many digits as tell neighbours apart", () => {
    expect(tickNumber(0.05, 0.005)).toBe("0.050");
    expect(tickNumber(1200, 200)).toBe("1,200");
    expect(tickNumber(2e8, 1e8)).toBe("2.0e+8");
    expect([logNumber(0.001), logNumber(1e-9)]).toEqual(["0.001", "1e-9"]);
  });
});

describe("the charts of jobs", () => {
  const a = newRun("ml/tfjobs/a", "a", {
    series: { zeta: [[1, 9, 1]], loss: [[1, 7, 0.5]], accuracy: [] },
    evaluator: { loss: [[1, 8, 0.6]] },
  });
  const b = newRun("ml/tfjobs/b", "b", { series: { loss: [[2, 1, 0.4]] } });

  test("have one for each tag, the known ones first, with training and test in it", () => {
    const charts = chartsOf([a, b], () => true);
    expect(charts.map(({ tag }) => tag)).toEqual(["loss", "zeta"]);
    expect(charts[0]?.lines.map(({ label, ofTest, run }) => [label, ofTest, run])).toEqual([
      ["a", false, 0],
      ["a", true, 0],
      ["b", false, 1],
    ]);
    expect(startOf(a)).toBe(7);
  });

  // Symptom: three charts of one point, labelled as of training batches, beside "perplexity" of
  // the test data: the chief's last evaluation, in its event files.
  test("have the chief's last evaluation in the curves of the test data", () => {
    const series: Record<string, Point[]> = {
      loss: [[1, 1, 5.5], [300, 9, 0.574]],
      "eval/loss": [[300, 10, 0.56]],
      "eval/perplexity": [[300, 10, 1.751]],
    };
    const evaluator: Record<string, Point[]> = { perplexity: [[250, 8, 2.197], [300, 11, 1.75]] };
    const charts = chartsOf([newRun("k", "ev", { series, evaluator })], () => true);
    expect(charts.map(({ tag }) => tag)).toEqual(["loss", "perplexity"]);
    const [loss, perplexity] = charts;
    expect(loss?.lines.map(({ ofTest, points }) => [ofTest, points])).toEqual([
      [false, series.loss],
      [true, [[300, 10, 0.56]]],
    ]);
    // What the evaluator says itself counts.
    expect(perplexity?.lines.map(({ points }) => points)).toEqual([evaluator.perplexity]);
    const names = summaryOf({ series, evaluator }).map(({ name, ofTest }) => `${name} ${ofTest}`);
    expect(names).toEqual(["loss false", "perplexity true", "loss true"]);
  });

  // Symptom: of a job that had ended accuracy and learning rate stopped at step 400 of 600 and
  // "last" was of that step, while the loss went to the end, and nothing said why.
  test("say where a curve that was recorded ends before the others", () => {
    const series: Record<string, Point[]> = {
      loss: [[1, 1, 5], [400, 2, 1], [600, 3, 0.4]],
      accuracy: [[1, 1, 0], [400, 2, 0.8]],
      "own/now_and_then": [[300, 2, 7]],
    };
    const ends = (archived: boolean) =>
      chartsOf([newRun("k", "a", { series, archived })], () => true).flatMap(({ tag, lines }) =>
        lines.flatMap(({ endsEarly }) => (endsEarly ? [[tag, endsEarly]] : [])),
      );
    expect(ends(true)).toEqual([["accuracy", { step: 400, of: 600 }]]);
    expect(ends(false)).toEqual([]);
  });

  test("take tags that are named as parts of every object", () => {
    const points: [number, number, number][] = [[1, 1, 1]];
    const odd = newRun("k", "odd", { series: { constructor: points } });
    expect(chartsOf([odd, a], () => true).map(({ tag }) => tag)).toContain("constructor");
  });

  test("are filtered by a regular expression, and a bad one filters nothing", () => {
    expect(chartsOf([a], tagFilter("^LO") ?? (() => true)).map(({ tag }) => tag)).toEqual(["loss"]);
    expect(tagFilter("(")).toBeUndefined();
  });

  test("have last, least and most of what is finite", () => {
    expect(rangeOf([[1, 1, 3], [2, 2, 1], [3, 3, NaN]])).toEqual({
      last: 1,
      min: 1,
      max: 3,
      step: 2,
    });
    expect(rangeOf([[1, 1, NaN]])).toBeUndefined();
  });

  test("become files that no spreadsheet takes for formulas", () => {
    const lines = [line([[1, 101, 0.5]], { label: '=HYPERLINK("x")' })];
    expect(csvOf({ tag: "loss", lines }).split("\n")[1]).toBe(
      `"'=HYPERLINK(""x"")",training,loss,1,101,1,0.5`,
    );
    expect(fileName("../global_step/sec")).toBe("global_step-sec.csv");
  });
});

describe("lines", () => {
  const all = [false, true].flatMap((ofTest) =>
    Array.from({ length: RUNS_MAX }, (_, run) => ({ run, ofTest })),
  );

  test("of one chart have a dash of their own each", () => {
    const dashes = all.map((one) => lineStyle(one, false).dash.join(" "));
    expect(new Set(dashes).size).toBe(all.length);
  });

  test("stand out from their ground by 3 : 1 at least", () => {
    for (const one of all) {
      expect(contrast(lineStyle(one, false).colour, LIGHT.surface)).toBeGreaterThan(3);
      expect(contrast(lineStyle(one, true).colour, DARK.surface)).toBeGreaterThan(3);
    }
  });
});

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((one, two) => one - two);
  return (high + 0.05) / (low + 0.05);
}

describe("keys", () => {
  const where = { places: [0, 10, 20, 30], x: [0, 20], all: [0, 30], index: 1 } as const;
  const press = (key: string, more: object = {}) =>
    keyMove({ key, ctrlKey: false, metaKey: false, altKey: false, ...more }, where);

  test("move the cursor over what is in view", () => {
    expect(press("ArrowRight")).toEqual({ index: 2 });
    expect(press("End")).toEqual({ index: 2 });
    expect(press("Home")).toEqual({ index: 0 });
  });

  test("zoom around the cursor; those of the browser are left to it", () => {
    expect(press("+")).toEqual({ zoom: [5, 15] });
    expect(press("Escape")).toEqual({ zoom: undefined });
    expect(press("+", { ctrlKey: true })).toBeUndefined();
    expect(press("Tab")).toBeUndefined();
  });
});
