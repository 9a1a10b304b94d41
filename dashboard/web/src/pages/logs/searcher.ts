// Who does the searching: a worker, or the page itself where there are none.

import { matchingLines } from "./find";
import type { Part } from "./log_store";
import type { Task } from "./search_worker";

// A chunk of 4096 lines takes milliseconds, on a machine that is busy some more; an expression that
// tries everything takes years.
export const TASK_MS = 5_000;

export class TooSlow extends Error {}

export interface Searcher {
  /** Places of the lines that match. Rejects with TooSlow. One at a time. */
  find: (expression: RegExp, part: Part) => Promise<number[]>;
  /** What is under way does not count any more. */
  stop: () => void;
  close: () => void;
}

export class WorkerSearcher implements Searcher {
  #worker: Worker | undefined;
  #ready: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  readonly #make: () => Worker;
  readonly #instead: Searcher;
  #useInstead = false;
  #turn = 0;

  /** `instead`: where the browser starts no worker. */
  constructor(make: () => Worker, instead: Searcher = new PageSearcher()) {
    this.#make = make;
    this.#instead = instead;
  }

  async find(expression: RegExp, part: Part): Promise<number[]> {
    const turn = (this.#turn += 1);
    // How long a worker takes to start says nothing about the expression.
    await this.#start();
    if (turn !== this.#turn) throw new Error("the search was stopped");
    if (this.#useInstead) return this.#instead.find(expression, part);
    const worker = this.#worker;
    if (!worker) throw new Error("the search was stopped");
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        worker.onmessage = worker.onerror = null;
        this.#cancel = undefined;
      };
      const fail = (error: Error): void => {
        end();
        this.#drop();
        reject(error);
      };
      const timer = setTimeout(() => fail(new TooSlow()), TASK_MS);
      this.#cancel = () => fail(new Error("the search was stopped"));
      worker.onerror = (event) => fail(new Error(event.message));
      worker.onmessage = (event: MessageEvent<number[]>) => {
        end();
        resolve(event.data);
      };
      const { source, flags } = expression;
      const task: Task = { source, flags, text: part.text, starts: part.starts };
      worker.postMessage(task);
    });
  }

  stop(): void {
    this.#turn += 1;
    // One that is idle, or about to start, serves the next search.
    this.#cancel?.();
  }

  close(): void {
    this.stop();
    this.#drop();
  }

  #start(): Promise<void> {
    this.#ready ??= new Promise((resolve) => {
      const worker = (this.#worker = this.#make());
      worker.onmessage = () => resolve();
      worker.onerror = () => {
        this.#useInstead = true;
        resolve();
      };
    });
    return this.#ready;
  }

  #drop(): void {
    this.#worker?.terminate();
    this.#worker = this.#ready = undefined;
  }
}

/** A chunk at a time, between which the page does other things. */
export class PageSearcher implements Searcher {
  async find(expression: RegExp, part: Part): Promise<number[]> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    return matchingLines(expression, part.text, part.starts);
  }

  stop(): void {}
  close(): void {}
}

export function newSearcher(): Searcher {
  if (typeof Worker === "undefined") return new PageSearcher();
  return new WorkerSearcher(
    () => new Worker(new URL("./search_worker.ts", import.meta.url), { type: "module" }),
  );
}
