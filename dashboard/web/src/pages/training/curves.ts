// What a chart is made of: one tag, and a line for each job and each of training and evaluator.

import type { SeriesAnswer } from "../../api/types";

/** [step, seconds since 1970, value] */
export type Point = [number, number, number];
export type Curves = Record<string, Point[]>;

/** One job in the charts. */
export interface Run {
  /** namespace/plural/name, or history:uid. */
  key: string;
  label: string;
  series: Curves;
  evaluator: Curves;
  /** Nobody makes more points: what there is was recorded while it ran. */
  recorded: boolean;
}

export interface ChartLine {
  id: string;
  label: string;
  /** Of its job among those that are compared: colour and dash. */
  run: number;
  /** Of the evaluator, on the test data. */
  ofTest: boolean;
  points: readonly Point[];
  /** The first time of all curves of its job: zero of relative time. */
  start: number;
  /** It was last asked for at a step before the job's last one. */
  endsEarly?: { step: number; of: number };
}

export interface Chart {
  tag: string;
  lines: ChartLine[];
}

export function newRun(key: string, label: string, answer: SeriesAnswer | undefined): Run {
  return { key, label, ...curvesOf(answer), recorded: answer?.archived === true };
}

// The chief's last evaluation is in its event files under these names.
const EVALUATION = "eval/";

/** Of the training and of the test data; a point of the evaluator's own counts at its step. */
export function curvesOf(
  answer: SeriesAnswer | undefined,
): Pick<Run, "series" | "evaluator"> {
  const series = new Map<string, Point[]>();
  const evaluator = new Map(Object.entries(answer?.evaluator ?? {}));
  for (const [tag, points] of Object.entries(answer?.series ?? {})) {
    if (!tag.startsWith(EVALUATION)) series.set(tag, points);
    else {
      const name = tag.slice(EVALUATION.length);
      evaluator.set(name, joined(evaluator.get(name) ?? [], points));
    }
  }
  return { series: Object.fromEntries(series), evaluator: Object.fromEntries(evaluator) };
}

function joined(own: readonly Point[], more: readonly Point[]): Point[] {
  const steps = new Set(own.map(([step]) => step));
  const all = [...own, ...more.filter(([step]) => !steps.has(step))];
  return all.sort(([a], [b]) => a - b);
}

// What one looks at first stands first. The bundled trainer takes a point of each of a training at
// the same steps.
const ORDER = [
  "loss",
  "accuracy",
  "perplexity",
  "learning_rate",
  "examples_per_second",
  "global_step/sec",
];

function place(tag: string): number {
  const at = ORDER.indexOf(tag);
  return at < 0 ? ORDER.length : at;
}

export function compareTags(a: string, b: string): number {
  return place(a) - place(b) || a.localeCompare(b);
}

export function startOf(run: Run): number {
  let start = Infinity;
  for (const curves of [run.series, run.evaluator]) {
    for (const points of Object.values(curves)) start = Math.min(start, points[0]?.[1] ?? Infinity);
  }
  return Number.isFinite(start) ? start : 0;
}

/** A tag may be named as what every object has. */
export function pointsOf(curves: Curves, tag: string): Point[] {
  return Object.hasOwn(curves, tag) ? (curves[tag] ?? []) : [];
}

/** A chart for each tag that any job has, without those that `wanted` leaves out. */
export function chartsOf(runs: readonly Run[], wanted: (tag: string) => boolean): Chart[] {
  const tags = new Set<string>();
  for (const { series, evaluator } of runs) {
    for (const curves of [series, evaluator]) {
      for (const [tag, points] of Object.entries(curves)) if (points.length > 0) tags.add(tag);
    }
  }
  return [...tags]
    .filter(wanted)
    .sort(compareTags)
    .map((tag) => ({ tag, lines: runs.flatMap((run, index) => linesOf(run, index, tag)) }));
}

function linesOf(run: Run, index: number, tag: string): ChartLine[] {
  const start = startOf(run);
  return [false, true].flatMap((ofTest) => {
    const points = pointsOf(ofTest ? run.evaluator : run.series, tag);
    if (points.length === 0) return [];
    const id = `${run.key} ${ofTest ? "test" : "training"}`;
    const line = { id, label: run.label, run: index, ofTest, points, start };
    const endsEarly = ofTest ? undefined : earlyEndOf(run, tag, points);
    return [endsEarly ? { ...line, endsEarly } : line];
  });
}

function earlyEndOf(run: Run, tag: string, points: readonly Point[]): ChartLine["endsEarly"] {
  if (!run.recorded || !ORDER.includes(tag)) return undefined;
  const last = points.at(-1)?.[0] ?? 0;
  const ends = ORDER.map((name) => pointsOf(run.series, name).at(-1)?.[0] ?? 0);
  const end = Math.max(...ends);
  return last < end ? { step: last, of: end } : undefined;
}

/** undefined: the text is no regular expression. */
export function tagFilter(text: string): ((tag: string) => boolean) | undefined {
  try {
    const pattern = new RegExp(text, "i");
    return (tag) => pattern.test(tag);
  } catch {
    return undefined;
  }
}

export interface Range {
  last: number;
  min: number;
  max: number;
  step: number;
}

/** Of the values that are finite; undefined: there is none. */
export function rangeOf(points: readonly Point[]): Range | undefined {
  let range: Range | undefined;
  for (const [step, , value] of points) {
    if (!Number.isFinite(value)) continue;
    const { min, max } = range ?? { min: value, max: value };
    range = { last: value, step, min: Math.min(min, value), max: Math.max(max, value) };
  }
  return range;
}
