// Jobs that need attention and that this person has seen: kept in this browser, for her alone. When
// the reason changes the job needs attention again.
//
//   seen.mark([row], true);
//   useSeen()(row)      // true

import { useCallback } from "react";
import { Cell, useCell } from "./cell";
import { useServices } from "./services";
import type { JobRow } from "./types";

type Marked = Pick<JobRow, "uid" | "health" | "healthReason">;

const KEY = "taas.seen";
// Of the newest: what was seen long ago has been deleted since.
const MOST = 2_000;

function keyOf({ uid, health, healthReason }: Marked): string {
  return `${uid} ${healthReason ?? health}`;
}

export class SeenJobs extends Cell<ReadonlySet<string>> {
  constructor() {
    super(stored());
    window.addEventListener("storage", ({ key }) => {
      if (key === KEY) this.set(stored());
    });
  }

  has(row: Marked): boolean {
    return row.health !== "ok" && this.get().has(keyOf(row));
  }

  mark(rows: readonly Marked[], seen: boolean): void {
    const after = new Set(this.get());
    for (const row of rows) {
      after.delete(keyOf(row));
      if (seen && row.health !== "ok") after.add(keyOf(row));
    }
    const newest = [...after].slice(-MOST);
    this.set(new Set(newest));
    try {
      localStorage.setItem(KEY, JSON.stringify(newest));
    } catch {
      // Where storage is switched off it holds until the tab closes.
    }
  }
}

function stored(): ReadonlySet<string> {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Set(Array.isArray(list) ? list.filter((one) => typeof one === "string") : []);
  } catch {
    return new Set();
  }
}

/** Whether a job's trouble has been seen; another function when that changes. */
export function useSeen(): (row: Marked) => boolean {
  const { seen } = useServices();
  const all = useCell(seen);
  return useCallback((row) => row.health !== "ok" && all.has(keyOf(row)), [all]);
}
