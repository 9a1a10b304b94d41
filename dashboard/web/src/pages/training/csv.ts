// A chart's points as a file for a spreadsheet.

import type { Chart } from "./curves";

// A spreadsheet would take it for a formula; names and tags are chosen by others.
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf({ tag, lines }: Chart): string {
  const head = ["job", "data", "tag", "step", "wall_time", "relative_seconds", "value"];
  const rows = lines.flatMap(({ label, ofTest, points, start }) =>
    points.map(([step, time, value]) => [
      ...[label, ofTest ? "test" : "training", tag],
      ...[step, time, Number((time - start).toFixed(3)), value],
    ]),
  );
  return csvText([head, ...rows]);
}

export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Names of files may not hold what tags hold. */
export function fileName(tag: string): string {
  return `${tag.replace(/[^\p{L}\p{N}_.-]+/gu, "-").replace(/^[.-]+/, "") || "curve"}.csv`;
}
