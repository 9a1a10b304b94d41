// The rows of all jobs, as the stream tells them.
//
// A row that has not changed keeps its identity, also when the server sends all rows anew, so that
// memoised rows of the table do not render again. Watchers are told at most every NOTIFY_MS.

import { sameJson } from "./same";
import type { JobRow, JobsEvent } from "./types";

export interface JobsSnapshot {
  rows: readonly JobRow[];
  /** False until the first full event: "no rows" then means nothing yet. */
  complete: boolean;
}

// Sorting and drawing 5,000 rows five times a second leaves most of a core free; people do not read
// faster.
export const NOTIFY_MS = 200;

export class JobsStore {
  readonly #rows = new Map<string, JobRow>();
  readonly #listeners = new Set<() => void>();
  #snapshot: JobsSnapshot = { rows: [], complete: false };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #toldAt = -Infinity;

  readonly get = (): JobsSnapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  apply(event: JobsEvent): void {
    let changed = event.full && !this.#snapshot.complete;
    if (event.full) {
      const present = new Set(event.rows.map((row) => row.uid));
      for (const uid of [...this.#rows.keys()]) {
        if (!present.has(uid)) changed = this.#rows.delete(uid) || changed;
      }
    }
    for (const row of event.rows) {
      if (sameJson(this.#rows.get(row.uid), row)) continue;
      this.#rows.set(row.uid, row);
      changed = true;
    }
    for (const uid of event.gone) changed = this.#rows.delete(uid) || changed;
    if (event.full && !this.#snapshot.complete) {
      this.#tell(true);
    } else if (changed) {
      this.#soon();
    }
  }

  /** Another user: nothing of the one before may show. */
  clear(): void {
    this.#rows.clear();
    this.#tell(false);
  }

  #soon(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(0, this.#toldAt + NOTIFY_MS - performance.now());
    this.#timer = setTimeout(() => this.#tell(this.#snapshot.complete), wait);
  }

  #tell(complete: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#toldAt = performance.now();
    this.#snapshot = { rows: [...this.#rows.values()], complete };
    for (const listener of [...this.#listeners]) listener();
  }
}
