// The lines that match, found chunk by chunk while lines still come.
//
//   const search = new LogSearch(store, newSearcher(), changed);
//   search.set({ text: "loss", regex: false, matchCase: false });
//   search.look();              // Lines were added or dropped.
//   search.after(1234)          // The next match behind line 1234.

import type { Query } from "./find";
import { compile, NO_QUERY, sameQuery } from "./find";
import type { LogStore } from "./log_store";
import { CHUNK_LINES } from "./log_store";
import { Numbers } from "./numbers";
import type { Searcher } from "./searcher";
import { TooSlow } from "./searcher";

export type SearchProblem = { kind: "invalid"; message: string } | { kind: "slow" };

export class LogSearch {
  readonly hits = new Numbers();
  #query = NO_QUERY;
  #expression: RegExp | null = null;
  #problem: SearchProblem | undefined;
  /** The first line that has not been looked at. */
  #next = 0;
  #busy = false;
  /** Of the present query; answers to an earlier one are old. */
  #turn = 0;
  readonly #store: LogStore;
  readonly #searcher: Searcher;
  readonly #changed: () => void;

  constructor(store: LogStore, searcher: Searcher, changed: () => void) {
    this.#store = store;
    this.#searcher = searcher;
    this.#changed = changed;
  }

  get query(): Query {
    return this.#query;
  }
  /** For the marks in the lines that show; null: nothing is searched. */
  get expression(): RegExp | null {
    return this.#expression;
  }
  get problem(): SearchProblem | undefined {
    return this.#problem;
  }
  get active(): boolean {
    return this.#expression !== null;
  }
  /** 0 … 1; lines that come while one looks are no search. */
  get progress(): number {
    const { first, end, length } = this.#store;
    const left = end - Math.max(first, this.#next);
    return !this.active || left < 2 * CHUNK_LINES ? 1 : 1 - left / length;
  }

  set(query: Query): void {
    if (sameQuery(query, this.#query)) return;
    this.#query = query;
    this.restart();
  }

  /** The lines are others. */
  restart(): void {
    this.#turn += 1;
    if (this.#busy) this.#searcher.stop();
    this.#busy = false;
    this.hits.clear();
    this.#next = this.#store.first;
    const compiled = compile(this.#query);
    this.#expression = compiled instanceof RegExp ? compiled : null;
    this.#problem =
      typeof compiled === "string" ? { kind: "invalid", message: compiled } : undefined;
    this.#changed();
    this.look();
  }

  look(): void {
    this.hits.dropBelow(this.#store.first);
    if (!this.#busy && this.#expression) void this.#run(this.#expression, this.#turn);
  }

  close(): void {
    this.#turn += 1;
    this.#searcher.close();
  }

  after(line: number): number | undefined {
    return this.hits.at(this.hits.place(line + 1)) ?? this.hits.at(0);
  }

  before(line: number): number | undefined {
    return this.hits.at(this.hits.place(line) - 1) ?? this.hits.at(this.hits.length - 1);
  }

  async #run(expression: RegExp, turn: number): Promise<void> {
    this.#busy = true;
    try {
      for (;;) {
        const part = this.#store.part(this.#next);
        if (!part) break;
        const places = await this.#searcher.find(expression, part);
        if (turn !== this.#turn) return;
        for (const place of places) this.hits.push(part.from + place);
        this.#next = part.from + part.starts.length;
        this.hits.dropBelow(this.#store.first);
        this.#changed();
      }
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#expression = null;
      this.hits.clear();
      this.#problem =
        error instanceof TooSlow
          ? { kind: "slow" }
          : { kind: "invalid", message: error instanceof Error ? error.message : String(error) };
      this.#changed();
    }
    this.#busy = false;
  }
}
