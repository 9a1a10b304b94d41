// Curves that are read bit by bit: each answer holds what is new and the newest point that is known
// already. Where that point is missing the training has gone back to a checkpoint, or the trainer
// has thinned its curves out or lost them: then they are read whole.

import type { SeriesAnswer } from "../../api/types";
import type { Curves } from "./curves";
import { pointsOf } from "./curves";

/** For ?since=; undefined: all of it. */
export function sinceOf(known: SeriesAnswer | undefined): number | undefined {
  if (!known || known.archived) return undefined;
  const ends = [known.series, known.evaluator ?? {}]
    .map(lastStep)
    .filter((step) => step !== undefined);
  // The evaluator's newest point is older than the training's.
  return ends.length === 0 ? undefined : Math.min(...ends) - 1;
}

function lastStep(curves: Curves): number | undefined {
  const steps = Object.values(curves).flatMap((points) => points.at(-1)?.[0] ?? []);
  return steps.length === 0 ? undefined : Math.max(...steps);
}

/** undefined: what is known is no longer true. */
export function mergeSeries(
  known: SeriesAnswer,
  answer: SeriesAnswer,
  since: number,
): SeriesAnswer | undefined {
  if (answer.archived || answer.source !== known.source) return undefined;
  const series = mergeCurves(known.series, answer.series, since);
  const evaluator = mergeCurves(known.evaluator ?? {}, answer.evaluator ?? {}, since);
  if (!series || !evaluator) return undefined;
  return { ...answer, series, ...(answer.evaluator || known.evaluator ? { evaluator } : {}) };
}

function mergeCurves(known: Curves, fresh: Curves, since: number): Curves | undefined {
  const merged: Curves = { ...known };
  for (const [tag, points] of Object.entries(known)) {
    const end = points.at(-1);
    if (!end || end[0] <= since) continue;
    const same = pointsOf(fresh, tag).find(([step]) => step === end[0]);
    if (!same || same[1] !== end[1] || same[2] !== end[2]) return undefined;
  }
  for (const [tag, points] of Object.entries(fresh)) {
    const before = pointsOf(known, tag).filter(([step]) => step <= since);
    merged[tag] = [...before, ...points];
  }
  return merged;
}

/** The newest step; before all others where there is none. */
export function endOf({ series, evaluator = {} }: SeriesAnswer): number {
  return Math.max(lastStep(series) ?? -Infinity, lastStep(evaluator) ?? -Infinity);
}

/** Nobody answers now: what was seen stays, with the reason. */
export function keepSeen(known: SeriesAnswer, answer: SeriesAnswer): SeriesAnswer {
  const seen = { ...known, ...answer, series: known.series };
  delete seen.source;
  return known.evaluator ? { ...seen, evaluator: known.evaluator } : seen;
}

export function isEmpty({ series, evaluator = {} }: SeriesAnswer): boolean {
  return [series, evaluator].every((curves) =>
    Object.values(curves).every((points) => points.length === 0),
  );
}
