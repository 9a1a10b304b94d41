// The numbers behind a chart: columns, the part that is in view, and what is at the cursor.

import { useMemo } from "react";
import type { ChartLine } from "./curves";
import type { Span } from "./scale";
import { inView, placeSpan, valueSpan } from "./scale";
import type { Settings } from "./settings";
import { smoothingUnit } from "./smoothing";
import type { Aligned, PlotLine } from "./transform";
import { align, plotLine } from "./transform";

export interface ChartData {
  lines: PlotLine[];
  data: Aligned;
  /** All there is. */
  all: Span;
  x: Span;
  y: Span;
  /** Its training lines have enough points to be. */
  smoothed: boolean;
}

export function useChart(
  lines: readonly ChartLine[],
  hidden: ReadonlySet<string>,
  { axis, weight, log, outliers, zoom }: Settings,
): ChartData {
  const unit = useMemo(() => smoothingUnit(lines), [lines]);
  const plotted = useMemo(
    () => lines.map((line) => plotLine(line, { axis, weight, log, unit })),
    [lines, axis, weight, log, unit],
  );
  const data = useMemo(() => align(plotted), [plotted]);
  const all = useMemo(() => placeSpan(data.x), [data]);
  const from = zoom?.[0] ?? all[0];
  const to = zoom?.[1] ?? all[1];
  return useMemo(() => {
    const x: Span = [from, to];
    const shown = data.columns.filter((_, index) => {
      const line = lines[Math.floor(index / 2)];
      return line !== undefined && !hidden.has(line.id);
    });
    const y = valueSpan(inView(data.x, shown, x), { log, outliers });
    return { lines: plotted, data, all, x, y, smoothed: unit !== undefined };
  }, [plotted, data, all, from, to, lines, hidden, log, outliers, unit]);
}
