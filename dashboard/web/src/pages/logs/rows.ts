// Which lines show, as rows 0 … length-1: all of them, or those that match.

import type { LogSearch } from "./search";
import type { LogStore } from "./log_store";

export interface Rows {
  length: number;
  /** The number of the line in this row. */
  line: (row: number) => number;
  /** The row of a line, or of the next one that shows. */
  row: (line: number) => number;
}

export function allRows(store: LogStore): Rows {
  const { first, length } = store;
  return {
    length,
    line: (row) => first + row,
    row: (line) => Math.min(Math.max(0, line - first), length),
  };
}

export function matchingRows({ hits }: LogSearch): Rows {
  return {
    length: hits.length,
    line: (row) => hits.at(row) ?? 0,
    row: (line) => hits.place(line),
  };
}
