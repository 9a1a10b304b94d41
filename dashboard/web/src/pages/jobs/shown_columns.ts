// Which columns of the table this person wants, kept in this browser; and how wide each is.
//
//   const { hidden, setHidden } = useHiddenColumns();
//   const columns = shownColumns(rows, hidden);

import { useCallback, useState } from "react";
import type { JobRow } from "../../api/types";
import type { ColumnKey } from "./columns";
import { COLUMNS } from "./columns";

const KEY = "taas.jobs.hidden";

/** Without these nobody knows what a row is. */
const ALWAYS: readonly ColumnKey[] = ["health", "name"];
export const CHOSEN: readonly ColumnKey[] = COLUMNS.filter((column) => !ALWAYS.includes(column));

export type Hidden = ReadonlySet<ColumnKey>;

function stored(): Hidden {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    const known = CHOSEN.filter((column) => Array.isArray(list) && list.includes(column));
    return new Set(known);
  } catch {
    // Storage is switched off, or holds what we have not written.
    return new Set();
  }
}

export function useHiddenColumns(): { hidden: Hidden; setHidden: (hidden: Hidden) => void } {
  const [hidden, set] = useState(stored);
  const setHidden = useCallback((next: Hidden) => {
    set(next);
    try {
      localStorage.setItem(KEY, JSON.stringify([...next]));
    } catch {
      // It holds until the tab closes.
    }
  }, []);
  return { hidden, setHidden };
}

// What most jobs do not have: a column of it that is empty only takes room from the others.
const VALUES: Partial<Record<ColumnKey, (row: JobRow) => unknown>> = {
  loss: (row) => row.progress?.loss,
  accuracy: (row) => row.progress?.accuracy,
  owner: (row) => row.owner,
  queue: (row) => row.queue,
};

/** In the order of reading; `rows` are all of the page, so that a filter moves no column. */
export function shownColumns(rows: readonly JobRow[], hidden: Hidden): ColumnKey[] {
  return COLUMNS.filter((column) => {
    if (hidden.has(column)) return false;
    const value = VALUES[column];
    return !value || rows.some((row) => value(row) !== undefined);
  });
}

// Of one line per job: least width in px, and its share of what is left; no share: as it is.
const WIDTHS: Record<ColumnKey, readonly [least: number, share?: number]> = {
  health: [90],
  name: [180, 1.5],
  namespace: [90, 0.7],
  kind: [84],
  state: [100],
  ready: [200, 1.3],
  gpus: [44],
  progress: [160, 1],
  loss: [58],
  accuracy: [64],
  restarts: [60],
  message: [180, 2.6],
  age: [52],
  owner: [90, 0.7],
  queue: [80, 0.7],
};
// As in jobs.css; the tick before each row, the gap between columns, the room at both ends.
const SELECT = 22;
const GAP = 12;
const ENDS = 24;

/** Below it rows have two lines: a little more than the sum of the least widths. */
export function leastWidth(columns: readonly ColumnKey[]): number {
  const sum = columns.reduce((before, column) => before + WIDTHS[column][0] + GAP, SELECT + ENDS);
  return sum + 24;
}

/** For grid-template-areas and grid-template-columns of one line. */
export function placesOf(columns: readonly ColumnKey[]): { areas: string; widths: string } {
  const widths = columns.map((column) => {
    const [least, share] = WIDTHS[column];
    return share === undefined ? `${least}px` : `minmax(${least}px, ${share}fr)`;
  });
  return {
    areas: `"${["select", ...columns].join(" ")}"`,
    widths: [`${SELECT}px`, ...widths].join(" "),
  };
}
