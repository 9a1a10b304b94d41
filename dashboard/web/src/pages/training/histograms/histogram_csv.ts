// The histograms or distributions of a tag as a file for a spreadsheet.

import type { Distribution, Histogram } from "../../../api/events";
import { BASIS_POINTS } from "../../../api/events";
import type { HistogramTag } from "../../../api/types";
import { csvText } from "../csv";

export function histogramsCsv({ run, tag }: HistogramTag, all: readonly Histogram[]): string {
  const head = ["run", "tag", "step", "wall_time", "from", "to", "count"];
  const rows = all.flatMap(({ step, wall, edges, counts }) =>
    counts.map((count, bin) => [
      ...[run, tag, step, wall],
      ...[edges[bin] ?? NaN, edges[bin + 1] ?? NaN, count],
    ]),
  );
  return csvText([head, ...rows]);
}

export function distributionsCsv({ run, tag }: HistogramTag, all: readonly Distribution[]): string {
  const head = ["run", "tag", "step", "wall_time", ...BASIS_POINTS.map((one) => `p${one / 100}`)];
  return csvText([head, ...all.map(({ step, wall, values }) => [run, tag, step, wall, ...values])]);
}
