// Fills a store from the server, and keeps on doing so: reconnects, and skips what came before.
//
//   const feed = new LogFeed(api, job, store, changed, Math.random);
//   feed.start({ replicas: [], tail: 1000, previous: false, follow: true });
//   feed.status.phase     // "loading", then "live"

import { Backoff } from "../../api/backoff";
import type { ApiClient } from "../../api/client";
import { logRecords } from "../../api/log_records";
import type { JobRef } from "../../api/paths";
import { jobApi } from "../../api/paths";
import { ApiError, asApiError } from "../../api/problem";
import type { LogRecord } from "../../api/types";
import type { LogStore } from "./log_store";
import { Resume } from "./resume";

export interface FeedOptions {
  /** "worker-1", or "worker" for all of a role; none: all. */
  replicas: readonly string[];
  /** Lines of each replica; 0: all. */
  tail: number;
  previous: boolean;
  follow: boolean;
}

export type FeedStatus =
  | { phase: "loading" | "live" | "ended" | "stopped" }
  /** The connection broke; it is being opened again. */
  | { phase: "waiting"; error: ApiError }
  | { phase: "failed"; error: ApiError };

// Of each frame; the page draws in the rest of it.
const SLICE_MS = 10;
// Hidden pages have no frames.
const FRAME_MS = 100;
// The server says something each 15 s: three are missing.
const DEAD_MS = 45_000;
// A server that ends each stream at once is not asked in a loop.
const STABLE_MS = 10_000;

export class LogFeed {
  #status: FeedStatus = { phase: "loading" };
  #abort: AbortController | undefined;
  #options: FeedOptions = { replicas: [], tail: 0, previous: false, follow: false };
  #over = false;
  #rests = false;
  #liveFrom: number | undefined;
  /** Lines of each replica that were there when one came. */
  readonly #loaded = new Map<string, number>();
  readonly #resume = new Resume();
  readonly #backoff: Backoff;
  readonly #api: ApiClient;
  readonly #job: JobRef;
  readonly #store: LogStore;
  readonly #changed: () => void;

  constructor(
    api: ApiClient,
    job: JobRef,
    store: LogStore,
    changed: () => void,
    random: () => number,
  ) {
    this.#api = api;
    this.#job = job;
    this.#store = store;
    this.#changed = changed;
    this.#backoff = new Backoff(random);
  }

  get status(): FeedStatus {
    return this.#status;
  }
  /** Lines from here on were written while one looked; undefined: none was. */
  get liveFrom(): number | undefined {
    return this.#liveFrom;
  }

  /** There may be earlier lines than those that were asked for. */
  get cut(): boolean {
    const { tail } = this.#options;
    return tail > 0 && Math.max(0, ...this.#loaded.values()) >= tail;
  }

  /** Keeps what the store has where only `follow` is another; true: it begins anew. */
  start(options: FeedOptions): boolean {
    const before = this.#options;
    const same =
      before.tail === options.tail &&
      before.previous === options.previous &&
      before.replicas.join() === options.replicas.join() &&
      this.#resume.since !== undefined;
    this.#options = options;
    if (!same) {
      this.#resume.clear();
      this.#store.clear();
      this.#liveFrom = undefined;
      this.#loaded.clear();
    } else if (!options.follow) {
      this.#stop();
      this.#become({ phase: "stopped" });
      return false;
    }
    this.#open();
    return !same;
  }

  /** The job is over: a stream that ends has come to its end. */
  setOver(over: boolean): void {
    this.#over = over;
  }

  /** After an error; what is there stays. */
  again(): void {
    this.#open();
  }

  #open(): void {
    this.#stop();
    this.#backoff.reset();
    const abort = (this.#abort = new AbortController());
    this.#become({ phase: "loading" });
    void this.#run(this.#options, abort.signal);
  }

  /** Nobody looks: browsers have six connections to one server for all their tabs. */
  rest(): void {
    const reads = ["loading", "live", "waiting"].includes(this.#status.phase);
    if (!reads || !this.#options.follow) return;
    this.#stop();
    this.#rests = true;
  }

  wake(): void {
    if (this.#rests) this.#open();
  }

  stop(): void {
    this.#stop();
    this.#status = { phase: "stopped" };
  }

  #stop(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    this.#rests = false;
  }

  #become(status: FeedStatus): void {
    this.#status = status;
    this.#changed();
  }

  async #run(options: FeedOptions, signal: AbortSignal): Promise<void> {
    for (;;) {
      const begun = performance.now();
      const error = await this.#read(options, signal);
      if (signal.aborted) return;
      const done = error === undefined && (!options.follow || this.#over);
      if (done) return this.#become({ phase: "ended" });
      if (error && !mayPass(error, options)) return this.#become({ phase: "failed", error });
      if (performance.now() - begun > STABLE_MS) this.#backoff.reset();
      if (error) this.#become({ phase: "waiting", error });
      await sleep(this.#backoff.next(), signal);
      if (signal.aborted) return;
    }
  }

  /** Undefined: the stream came to its end. */
  async #read(options: FeedOptions, signal: AbortSignal): Promise<ApiError | undefined> {
    const dead = new AbortController();
    const both = AbortSignal.any([signal, dead.signal]);
    let heard = performance.now();
    const timer = setInterval(() => {
      if (performance.now() - heard > DEAD_MS) dead.abort();
    }, DEAD_MS / 3);
    try {
      const response = await this.#api.open(`${jobApi(this.#job)}/logs`, {
        query: this.#query(options),
        signal: both,
      });
      this.#resume.restart();
      if (this.#status.phase === "waiting") this.#become({ phase: "loading" });
      const watched = watchBytes(response, () => (heard = performance.now()));
      await this.#take(watched, both);
      return undefined;
    } catch (error) {
      if (dead.signal.aborted) return new ApiError("Network", "the logs: no sign of life");
      return asNetworkError(error);
    } finally {
      clearInterval(timer);
    }
  }

  #query({ replicas, tail, previous, follow }: FeedOptions) {
    const { since } = this.#resume;
    return {
      replica: replicas,
      tail: since === undefined ? tail : 0,
      since,
      previous: previous || undefined,
      follow: follow || undefined,
    };
  }

  async #take(response: Response, signal: AbortSignal): Promise<void> {
    let slice = performance.now();
    for await (const records of logRecords(response)) {
      if (signal.aborted) return;
      for (const record of records) {
        if ("note" in record && record.note === "live") this.#becomeLive();
        else if (this.#resume.isNew(record)) this.#push(record);
      }
      this.#changed();
      if (performance.now() - slice < SLICE_MS) continue;
      await yieldToPage();
      slice = performance.now();
    }
  }

  #push(record: LogRecord): void {
    if ("l" in record && this.#liveFrom === undefined) {
      this.#loaded.set(record.r, (this.#loaded.get(record.r) ?? 0) + 1);
    }
    this.#store.push(record);
  }

  #becomeLive(): void {
    this.#liveFrom ??= this.#store.end;
    this.#become({ phase: "live" });
  }
}

function mayPass(error: ApiError, options: FeedOptions): boolean {
  const passing = ["Network", "Unavailable", "TooManyRequests"].includes(error.reason);
  return passing && options.follow;
}

/** A stream that breaks off rejects with whatever the browser calls it. */
function asNetworkError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError("Network", asApiError(error).message, { cause: error });
}

function watchBytes(response: Response, heard: () => void): Response {
  const watch = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      heard();
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(watch) ?? null);
}

/** Until the page has drawn: a task of its own after its next frame. */
function yieldToPage(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    const go = (): void => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      channel.port2.postMessage(null);
    };
    const timer = setTimeout(go, FRAME_MS);
    const frame = requestAnimationFrame(go);
  });
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
