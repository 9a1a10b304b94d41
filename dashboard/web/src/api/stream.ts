// The one stream of events of this tab.
//
// Pages say what they show with `want`; the stream carries the union and is opened anew when that
// changes. It reconnects by itself, resumes after the last id, and takes a connection without a
// byte for DEAD_MS as dead. It goes on in hidden tabs: a page is right at once when one comes back.
//
//   const stop = stream.want({ jobs: true });
//   stream.on("jobs", (data) => ...);
//   useCell(stream.status).phase      // "live"

import { Backoff } from "./backoff";
import { Cell } from "./cell";
import type { Query } from "./client";
import { ApiError } from "./problem";
import type { ServerEvent } from "./sse";
import { EventParser } from "./sse";
import type { StreamEnd } from "./types";

export interface Topics {
  jobs?: boolean;
  /** namespace/plural/name */
  job?: string;
  gpus?: boolean;
  queues?: boolean;
}

export interface StreamStatus {
  phase:
    | "idle" // Nobody wants anything, or the user has to log in.
    | "connecting" // The first time, or for other topics.
    | "live"
    | "reconnecting"
    | "offline"; // It has not come back for OFFLINE_MS, or the browser knows of no network.
  /** When the last byte came, by this machine's clock; 0: never. */
  lastByte: number;
  /** Why the last try failed; undefined: it did not. */
  error: ApiError | undefined;
}

// The server sends a comment each 15 s: three are missing.
export const DEAD_MS = 45_000;
// A restart of the server or a switch of networks is over by then.
export const OFFLINE_MS = 30_000;
// A page that goes and one that comes change the topics together: one new connection, not two.
const SETTLE_MS = 20;
// One that breaks sooner is no success: the next waits longer.
const STABLE_MS = 10_000;

export interface StreamOptions {
  open: (query: Query, headers: Record<string, string>, signal: AbortSignal) => Promise<Response>;
  random: () => number;
  onUnauthenticated: () => void;
}

type Listener = (data: unknown) => void;

export class LiveStream {
  readonly status = new Cell<StreamStatus>({ phase: "idle", lastByte: 0, error: undefined });
  readonly #options: StreamOptions;
  readonly #wishes = new Map<symbol, Topics>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #backoff: Backoff;
  #query: Query = {};
  #lastId = "";
  #abort: AbortController | undefined;
  #settle: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #lostAt = 0;
  #openedAt = 0;
  #halted = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
  }

  /** Asks for topics until the function that it returns is called. */
  want(topics: Topics): () => void {
    const key = Symbol("wish");
    this.#wishes.set(key, topics);
    this.#changed();
    return () => {
      if (this.#wishes.delete(key)) this.#changed();
    };
  }

  /** Listens for the events of one name; data is parsed JSON. */
  on(name: string, listener: Listener): () => void {
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set.add(listener));
    return () => set.delete(listener);
  }

  /** The job whose events come now. */
  get job(): string | undefined {
    return this.#query.job as string | undefined;
  }

  /** After a login, and when the browser says that there is a network again. */
  resume(): void {
    this.#halted = false;
    if (this.#abort === undefined && Object.keys(this.#query).length > 0) {
      this.#backoff.reset();
      this.#connect();
    }
  }

  /** Until `resume`: nobody is logged in. */
  halt(): void {
    this.#halted = true;
    this.#disconnect();
    this.#setPhase("idle");
  }

  /** The next connection brings everything anew. */
  forget(): void {
    this.#lastId = "";
  }

  #changed(): void {
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#applyWishes(), SETTLE_MS);
  }

  #applyWishes(): void {
    const all = [...this.#wishes.values()];
    const query: Query = {};
    if (all.some((topics) => topics.jobs)) query.jobs = 1;
    // One job at a time: the page that came last has it.
    const job = all.findLast((topics) => topics.job !== undefined)?.job;
    if (job !== undefined) query.job = job;
    if (all.some((topics) => topics.gpus)) query.gpus = 1;
    if (all.some((topics) => topics.queues)) query.queues = 1;
    if (JSON.stringify(query) === JSON.stringify(this.#query)) return;
    this.#query = query;
    // An id counts for the topics that it was given for.
    this.#lastId = "";
    this.#disconnect();
    if (this.#halted) return;
    if (Object.keys(query).length === 0) {
      this.#setPhase("idle");
      return;
    }
    this.#backoff.reset();
    this.#lostAt = 0;
    if (this.status.get().phase === "idle") this.#setPhase("connecting");
    this.#connect();
  }

  #disconnect(): void {
    clearTimeout(this.#retry);
    this.#abort?.abort();
    this.#abort = undefined;
  }

  #connect(): void {
    this.#disconnect();
    const abort = new AbortController();
    this.#abort = abort;
    this.#openedAt = 0;
    void this.#run(abort).then(
      () => this.#lost(abort),
      (error: unknown) => this.#lost(abort, error),
    );
  }

  async #run(abort: AbortController): Promise<void> {
    const alive = watchdog(() => abort.abort(new Error(`no byte for ${DEAD_MS} ms`)));
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    // A reader of an aborted fetch rejects; one of another source has to be told.
    const aborted = new Promise<never>((_, reject) => {
      abort.signal.addEventListener("abort", () => reject(abort.signal.reason as Error));
    });
    aborted.catch(() => undefined);
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (this.#lastId !== "") headers["Last-Event-ID"] = this.#lastId;
      const opening = this.#options.open(this.#query, headers, abort.signal);
      const response = await Promise.race([opening, aborted]);
      if (!response.body) throw new ApiError("BadAnswer", "the stream of events has no body");
      reader = response.body.getReader();
      const parser = new EventParser((event) => {
        if (!abort.signal.aborted) this.#event(event, abort);
      });
      const decoder = new TextDecoder();
      this.#openedAt = Date.now();
      this.#alive();
      for (;;) {
        const { done, value } = await Promise.race([reader.read(), aborted]);
        if (done) return;
        alive.again();
        this.#alive();
        parser.push(decoder.decode(value, { stream: true }));
      }
    } finally {
      alive.stop();
      void reader?.cancel().catch(() => undefined);
    }
  }

  #event(event: ServerEvent, abort: AbortController): void {
    let data: unknown;
    try {
      data = JSON.parse(event.data);
    } catch {
      // Nothing after it can be trusted: begin again with everything.
      this.#lastId = "";
      abort.abort(new Error(`the stream's event ${event.name} is not JSON`));
      return;
    }
    this.#lastId = event.id;
    if (event.name === "end") this.#end(data as StreamEnd, abort);
    for (const listener of this.#listeners.get(event.name) ?? []) listener(data);
  }

  #end(end: StreamEnd, abort: AbortController): void {
    if (end.reason === "Unauthenticated") {
      this.halt();
      this.#options.onUnauthenticated();
      return;
    }
    // What was missed is unknown: a full answer is cheaper than a gap.
    if (end.reason === "TooSlow") this.#lastId = "";
    abort.abort(new Error(end.message));
  }

  #lost(abort: AbortController, error?: unknown): void {
    // Another connection has taken over, or none is wanted.
    if (this.#abort !== abort) return;
    this.#abort = undefined;
    if (error instanceof ApiError && error.reason === "Unauthenticated") {
      this.halt();
      this.#options.onUnauthenticated();
      return;
    }
    if (this.#openedAt > 0 && Date.now() - this.#openedAt >= STABLE_MS) this.#backoff.reset();
    this.#lostAt ||= Date.now();
    const gone = !navigator.onLine || Date.now() - this.#lostAt >= OFFLINE_MS;
    const why = error instanceof ApiError ? error : this.status.get().error;
    this.status.set({
      phase: gone ? "offline" : "reconnecting",
      lastByte: this.status.get().lastByte,
      error: why,
    });
    this.#retry = setTimeout(() => this.#connect(), this.#backoff.next());
  }

  #alive(): void {
    this.#lostAt = 0;
    this.status.set({ phase: "live", lastByte: Date.now(), error: undefined });
  }

  #setPhase(phase: StreamStatus["phase"]): void {
    this.status.set({ ...this.status.get(), phase });
  }
}

function watchdog(bark: () => void): { again: () => void; stop: () => void } {
  let timer = setTimeout(bark, DEAD_MS);
  return {
    again: () => {
      clearTimeout(timer);
      timer = setTimeout(bark, DEAD_MS);
    },
    stop: () => clearTimeout(timer),
  };
}
