// Smoothing: an exponential moving average over steps, freed of its start as TensorBoard's is.
//
// It weighs by distance in steps, not by point, so that two runs that keep different numbers of
// points lag behind their values by the same number of steps, and the better one stays the lower
// one. Between two points a curve is taken as the straight line that is drawn; the average at a
// step is the integral of all before it, each part weighed by weight^(distance / unit).

import type { ChartLine, Point } from "./curves";

/** With fewer an average shows little but where the curve began: such a chart is not smoothed. */
export const SMOOTHED_POINTS_MIN = 10;

/**
 * The steps that the weight is of, one for all lines of a chart: the usual distance between two
 * points of the closest line. undefined: the chart is not to be smoothed. Nor is test data ever:
 * its points are few, each is a mean already, and they say who is better.
 */
export function smoothingUnit(lines: readonly ChartLine[]): number | undefined {
  const training = lines.filter(({ ofTest }) => !ofTest);
  if (training.some(({ points }) => points.length < SMOOTHED_POINTS_MIN)) return undefined;
  const gaps = training.flatMap(({ points }) => usualGap(points) ?? []);
  return gaps.length === 0 ? undefined : Math.min(...gaps);
}

/** The median, since a training that was resumed has a hole. */
function usualGap(points: readonly Point[]): number | undefined {
  const gaps = points.slice(1).map(([step], index) => step - (points[index]?.[0] ?? step));
  const sorted = gaps.filter((gap) => gap > 0).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

interface Before {
  step: number;
  value: number;
}

/**
 * weight: 0 … 1, of what lies `unit` steps back. What is no finite number stays as it is and is
 * passed; a point at an earlier step than the one before it adds nothing to the average.
 */
export function smooth(points: readonly Point[], weight: number, unit: number): number[] {
  const values = points.map(([, , value]) => value);
  // An average of equal values has rounding errors that look like a curve.
  const constant = values.every((value) => value === values[0]);
  if (weight <= 0 || weight >= 1 || constant) return values;
  const rate = -Math.log(weight) / unit;
  let before: Before | undefined;
  let sum = 0;
  let weights = 0;
  return points.map(([step, , value]) => {
    if (!Number.isFinite(value)) return value;
    const distance = before ? (step - before.step) * rate : 0;
    if (before && distance > 0) {
      const left = Math.exp(-distance);
      const added = -Math.expm1(-distance);
      // Of the line from the value before to this one; the newer end weighs more.
      sum = sum * left + before.value * added + (value - before.value) * newerPart(distance);
      weights = weights * left + added;
    }
    before = { step, value };
    return weights > 0 ? sum / weights : value;
  });
}

/** ∫₀¹ u e^(−d(1−u)) d du = 1 − (1 − e^−d) / d */
function newerPart(distance: number): number {
  // Below this the difference of the two has no digits left.
  if (distance < 1e-4) return distance / 2;
  return 1 + Math.expm1(-distance) / distance;
}
