// A row of the stream as the table has it: with what this person has seen of it.

import type { Health, JobRow } from "../../api/types";

export type ListedRow = JobRow & { seen?: true };

// A row keeps its identity while it does not change, so that its cells need not render again.
const seenRows = new WeakMap<JobRow, ListedRow>();

export function listed(rows: readonly JobRow[], isSeen: (row: JobRow) => boolean): ListedRow[] {
  return rows.map((row) => {
    if (!isSeen(row)) return row;
    const known = seenRows.get(row) ?? { ...row, seen: true };
    seenRows.set(row, known);
    return known;
  });
}

/** How much it wants to be looked at: its health, unless that was seen. */
export function attention(row: ListedRow): Health {
  return row.seen ? "ok" : row.health;
}
