// Smoothing as TensorBoard does it: an exponential moving average that is freed of its start at 0.

/** weight: 0 … 1, of what came before. What is no finite number stays as it is and is passed. */
export function smooth(values: readonly number[], weight: number): number[] {
  // An average of equal values has rounding errors that look like a curve.
  const constant = values.every((value) => value === values[0]);
  if (weight <= 0 || constant) return [...values];
  let average = 0;
  let counted = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    average = average * weight + (1 - weight) * value;
    counted += 1;
    return weight === 1 ? average : average / (1 - weight ** counted);
  });
}
