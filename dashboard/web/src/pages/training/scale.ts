// Which part of the plane a chart shows.

export type Span = readonly [number, number];

// Of the values, at each end: as TensorBoard does when it ignores outliers.
const OUTLIERS = 0.05;
// Room above and below the curves, of their height.
const PAD = 0.06;

function quantile(sorted: readonly number[], part: number): number {
  const at = part * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? 0;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}

export function padded(min: number, max: number): Span {
  if (min === max) {
    const room = min === 0 ? 1 : Math.abs(min) * 0.1;
    return [min - room, max + room];
  }
  const room = (max - min) * PAD;
  return [min - room, max + room];
}

/** values: those in view, all finite, and positive where `log`. */
export function valueSpan(
  values: readonly number[],
  { log, outliers }: { log: boolean; outliers: boolean },
): Span {
  if (values.length === 0) return log ? [1, 10] : [0, 1];
  const sorted = [...values].sort((a, b) => a - b);
  const min = quantile(sorted, outliers ? OUTLIERS : 0);
  const max = quantile(sorted, outliers ? 1 - OUTLIERS : 1);
  if (!log) return padded(min, max);
  const [low, high] = padded(Math.log10(min), Math.log10(max));
  // The logarithm of 1 has no size to take a tenth of.
  return [10 ** low, 10 ** high];
}

export function placeSpan(x: readonly number[]): Span {
  const first = x[0] ?? 0;
  const last = x.at(-1) ?? 1;
  if (first < last) return [first, last];
  return [first - 1, first + 1];
}

/** The finite values of the columns between the ends of the span. */
export function inView(
  x: readonly number[],
  columns: readonly (readonly (number | null | undefined)[])[],
  [from, to]: Span,
): number[] {
  const found: number[] = [];
  x.forEach((place, index) => {
    if (place < from || place > to) return;
    for (const column of columns) {
      const value = column[index];
      if (value !== null && value !== undefined) found.push(value);
    }
  });
  return found;
}

/** factor < 1: closer. Never beyond what there is; undefined: that is all of it. */
export function zoomed(span: Span, at: number, factor: number, all: Span): Span | undefined {
  const from = Math.max(all[0], at - (at - span[0]) * factor);
  const to = Math.min(all[1], at + (span[1] - at) * factor);
  if (from <= all[0] && to >= all[1]) return undefined;
  return to > from ? [from, to] : span;
}

// With more decades than this the digits between them are too many to read.
const DECADES_MAX = 2;

/** Where a logarithmic axis has lines: at 1, 2, 5 of each decade, or at the decades alone. */
export function logTicks(min: number, max: number): number[] {
  const first = Math.floor(Math.log10(min));
  const last = Math.ceil(Math.log10(max));
  const every = Math.max(1, Math.ceil((last - first) / 8));
  const digits = Math.log10(max / min) <= DECADES_MAX ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let decade = first; decade <= last; decade += every) {
    for (const digit of digits) ticks.push(Number(`${digit}e${decade}`));
  }
  const within = ticks.filter((tick) => tick >= min && tick <= max);
  return within.length > 1 ? within : [min, max];
}
