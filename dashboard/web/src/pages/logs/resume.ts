// After a lost connection the logs are read again from some time before; what has come is skipped.

import type { LogRecord } from "../../api/types";
import { normalTime } from "./line_time";

// A line reaches us at most a moment after it was written, of whichever replica it is.
const BACK_MS = 10_000;

interface Seen {
  time: string;
  /** Lines with that time. */
  same: number;
  /** Of those, how many came again. */
  again: number;
}

export class Resume {
  readonly #replicas = new Map<string, Seen>();
  readonly #notes = new Set<string>();
  /** Of a replica that has had no line since. */
  readonly #errors = new Map<string, string>();
  #newest = "";
  #resumed = false;

  /** From when on to read; undefined: nothing has come yet. */
  get since(): string | undefined {
    if (this.#newest === "") return undefined;
    return new Date(Date.parse(this.#newest) - BACK_MS).toISOString();
  }

  restart(): void {
    this.#resumed = true;
    for (const seen of this.#replicas.values()) seen.again = 0;
  }

  clear(): void {
    this.#replicas.clear();
    this.#notes.clear();
    this.#errors.clear();
    this.#newest = "";
    this.#resumed = false;
  }

  isNew(record: LogRecord): boolean {
    if ("note" in record) return this.#isNewNote(record);
    // Lines without a time cannot be told apart.
    if (record.t === "") return true;
    const time = normalTime(record.t);
    const seen = this.#replicas.get(record.r);
    if (!seen) {
      this.#replicas.set(record.r, { time, same: 1, again: 1 });
    } else if (time > seen.time) {
      Object.assign(seen, { time, same: 1, again: 1 });
    } else if (time === seen.time) {
      if (this.#resumed && (seen.again += 1) <= seen.same) return false;
      seen.same += 1;
    } else if (this.#resumed) {
      return false;
    }
    if (time > this.#newest) this.#newest = time;
    this.#errors.delete(record.r);
    return true;
  }

  // That a pod's log begins or ends is said once, and an error that goes on, too.
  #isNewNote(record: { r: string; note: string; podNumber?: number; message?: string }): boolean {
    if (record.note === "error") {
      const { r, message = "" } = record;
      if (this.#resumed && this.#errors.get(r) === message) return false;
      this.#errors.set(r, message);
      return true;
    }
    const key = `${record.r} ${record.podNumber ?? ""} ${record.note}`;
    if (this.#resumed && this.#notes.has(key)) return false;
    this.#notes.add(key);
    return true;
  }
}
