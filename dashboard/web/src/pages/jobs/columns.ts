// The columns of the table and their orders. The order here is the order of reading, for screen
// readers too; where each stands in each layout is in jobs.css.

import type { Health, JobRow, JobState } from "../../api/types";
import { attention } from "./listed";

export const COLUMNS = [
  "health",
  "name",
  "namespace",
  "kind",
  "state",
  "ready",
  "gpus",
  "progress",
  "loss",
  "accuracy",
  "restarts",
  "message",
  "age",
  "owner",
  "queue",
] as const;

export type ColumnKey = (typeof COLUMNS)[number];

const HEALTH_ORDER: Record<Health, number> = { critical: 0, warning: 1, ok: 2 };
const STATE_ORDER: Record<JobState, number> = {
  Failed: 0,
  Restarting: 1,
  Pending: 2,
  Running: 3,
  Suspended: 4,
  Succeeded: 5,
};

// Numbers in names by their value: train-9 before train-10. Ten digits hold any index and date.
const nameKeys = new WeakMap<JobRow, string>();

function nameKey(row: JobRow): string {
  let key = nameKeys.get(row);
  if (key === undefined) {
    // A name of the cluster is short; what is not is not worth the work.
    const name = row.name.slice(0, 300);
    key = name.replace(/\d+/g, (digits) => digits.padStart(10, "0"));
    nameKeys.set(row, key);
  }
  return key;
}

function ready(row: JobRow): number {
  let there = 0;
  let desired = 0;
  for (const role of row.roles) {
    there += role.ready + role.succeeded;
    desired += role.desired;
  }
  return desired === 0 ? 1 : there / desired;
}

type Key = (row: JobRow) => string | number;

// ISO times in UTC sort as text. The first order of a column is the one that people ask for first:
// most GPUs, most restarts, newest.
const KEYS: Partial<Record<ColumnKey, { key: Key; largeFirst?: boolean }>> = {
  health: { key: (row) => HEALTH_ORDER[attention(row)] ?? 1 },
  name: { key: nameKey },
  namespace: { key: (row) => row.namespace },
  kind: { key: (row) => row.kind },
  state: { key: (row) => STATE_ORDER[row.state] ?? 0 },
  ready: { key: ready },
  gpus: { key: (row) => row.gpus, largeFirst: true },
  progress: { key: (row) => row.progress?.percent ?? -1, largeFirst: true },
  // The best first; those that have none come last.
  loss: { key: (row) => row.progress?.loss ?? Number.MAX_VALUE },
  accuracy: { key: (row) => row.progress?.accuracy ?? -1, largeFirst: true },
  restarts: { key: (row) => row.restarts, largeFirst: true },
  age: { key: (row) => row.created, largeFirst: true },
  owner: { key: (row) => row.owner ?? "\uffff" },
  queue: { key: (row) => row.queue ?? "\uffff" },
};

export function isSortable(column: string): column is ColumnKey {
  return Object.hasOwn(KEYS, column);
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Total: equal ones are ordered newest first, then by name, so that rows do not jump about. */
export function comparator(
  column: ColumnKey,
  descending: boolean,
): (a: JobRow, b: JobRow) => number {
  const of = KEYS[column];
  if (!of) return () => 0;
  const sign = descending !== (of.largeFirst ?? false) ? -1 : 1;
  const { key } = of;
  return (a, b) =>
    sign * compare(key(a), key(b)) ||
    compare(b.created, a.created) ||
    compare(nameKey(a), nameKey(b)) ||
    compare(a.uid, b.uid);
}
