// Each curve of a job in a few numbers.

import type { SeriesAnswer } from "../../api/types";
import { curvesOf } from "../training/curves";

export interface CurveSummary {
  key: string;
  name: string;
  /** Of the evaluator. */
  ofTest: boolean;
  points: number;
  step: number;
  last: number;
  least: number;
  most: number;
}

function summaries(curves: SeriesAnswer["series"], ofTest: boolean): CurveSummary[] {
  return Object.entries(curves).flatMap(([name, points]) => {
    const end = points.at(-1);
    if (!end) return [];
    let least = Infinity;
    let most = -Infinity;
    for (const [, , value] of points) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    const key = `${name} ${String(ofTest)}`;
    return [{ key, name, ofTest, points: points.length, step: end[0], last: end[2], least, most }];
  });
}

export function summaryOf(answer: SeriesAnswer): CurveSummary[] {
  const { series, evaluator } = curvesOf(answer);
  return [...summaries(series, false), ...summaries(evaluator, true)];
}
