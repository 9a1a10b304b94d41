// How high lines are when they wrap: as measured, or as their length lets expect.

import type { LogStore } from "./log_store";
import { ROW_HEIGHT } from "./scroll";

// Of one character, in px; an estimate, which measuring corrects.
const CHARACTER_WIDTH = 7.3;
// Lines whose heights are kept: many screens.
const KEPT = 20_000;

export class RowHeights {
  readonly #measured = new Map<number, number>();
  #columns = Infinity;
  #width = Infinity;

  get width(): number {
    return this.#width;
  }

  /** Of the lines' texts; Infinity: they do not wrap. */
  setWidth(width: number): void {
    if (width === this.#width) return;
    this.#width = width;
    this.#columns = Math.max(1, Math.floor(width / CHARACTER_WIDTH));
    this.#measured.clear();
  }

  of(line: number, store: LogStore): number {
    if (this.#width === Infinity) return ROW_HEIGHT;
    const measured = this.#measured.get(line);
    if (measured !== undefined) return measured;
    const length = store.line(line)?.text.length ?? 0;
    return ROW_HEIGHT * Math.max(1, Math.ceil(length / this.#columns));
  }

  /** By how much it differs from what was known. */
  measure(line: number, height: number, store: LogStore): number {
    const by = height - this.of(line, store);
    if (this.#measured.size >= KEPT) this.#measured.clear();
    this.#measured.set(line, height);
    return by;
  }
}
