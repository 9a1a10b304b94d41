// From the points of lines to the columns that uPlot draws.

import type { ChartLine } from "./curves";
import { smooth } from "./smoothing";

export type Axis = "step" | "relative" | "wall";

export interface Look {
  axis: Axis;
  /** Of smoothing, 0 … 0.999. */
  weight: number;
  log: boolean;
}

/** unit: of smoothingUnit of all lines of the chart. */
export interface Smoothed extends Look {
  unit: number | undefined;
}

export interface PlotLine {
  x: number[];
  step: number[];
  time: number[];
  /** null: a gap, for what is no number or cannot stand on a logarithmic scale. */
  raw: (number | null)[];
  smooth: (number | null)[];
  /** Where the gaps are. */
  gaps: number[];
}

export function plotLine(line: ChartLine, { axis, weight, log, unit }: Smoothed): PlotLine {
  const smoothed = line.ofTest || unit === undefined ? [] : smooth(line.points, weight, unit);
  const shown = (value: number): number | null =>
    Number.isFinite(value) && !(log && value <= 0) ? value : null;
  const at = new Map<number, { step: number; time: number; raw: number; smooth: number }>();
  line.points.forEach(([step, time, value], index) => {
    const x = axis === "step" ? step : axis === "wall" ? time : time - line.start;
    // Of two points at one place the later one is the truth.
    at.set(x, { step, time, raw: value, smooth: smoothed[index] ?? value });
  });
  // A clock that was set back must not make a line run to and fro.
  const sorted = [...at].sort(([a], [b]) => a - b);
  const raw = sorted.map(([, point]) => shown(point.raw));
  return {
    x: sorted.map(([x]) => x),
    step: sorted.map(([, point]) => point.step),
    time: sorted.map(([, point]) => point.time),
    raw,
    smooth: sorted.map(([, point], index) => (raw[index] === null ? null : shown(point.smooth))),
    gaps: sorted.filter((_, index) => raw[index] === null).map(([x]) => x),
  };
}

export interface Aligned {
  x: number[];
  /** Two for each line: raw, smooth. undefined: this line has nothing there and goes on. */
  columns: (number | null | undefined)[][];
}

export function align(lines: readonly PlotLine[]): Aligned {
  const x = [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  const place = new Map(x.map((value, index) => [value, index]));
  const columns = lines.flatMap((line) =>
    [line.raw, line.smooth].map((values) => {
      const column = new Array<number | null | undefined>(x.length).fill(undefined);
      line.x.forEach((value, index) => (column[place.get(value) ?? 0] = values[index]));
      return column;
    }),
  );
  return { x, columns };
}
