// A dashboard server inside of a test: routes by method and path, and one stream of events.
//
//   const server = new FakeServer();
//   server.on("GET", "api/gpus", () => ({ nodes: [] }));
//   server.on("DELETE", "api/jobs/ml/tfjobs/a", () => problem(403, "Forbidden", "…"));
//   await server.send("jobs", { full: true, rows, gone: [] });   // to the stream that is open

import type { ProblemReason, Session } from "../api/types";

export const BASE = "http://taas.test/";

export interface Asked {
  method: string;
  /** Without the base and the query. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: string;
}

type Handler = (asked: Asked) => unknown;

export function session(more: Partial<Session> = {}): Session {
  return {
    user: "ada",
    groups: ["research"],
    readOnly: false,
    local: false,
    version: "0.9.0",
    gpuResource: "nvidia.com/gpu",
    kinds: ["TrainingJob", "TFJob"],
    namespaces: ["ml", "vision"],
    historyDays: 30,
    ...more,
  };
}

/** An answer that is no 2xx. */
export function problem(status: number, reason: ProblemReason, message: string): Response {
  return Response.json({ error: { reason, message } }, { status });
}

export class FakeServer {
  /** Everything that was asked, but for streams. */
  readonly asked: Asked[] = [];
  /** Every stream that was opened. */
  readonly streams: Asked[] = [];
  readonly #handlers = new Map<string, Handler>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #nextId = 1;

  constructor(of: Session = session()) {
    this.on("GET", "api/session", () => of);
  }

  /** What a handler returns becomes JSON, unless it is a Response; undefined becomes 204. */
  on(method: string, path: string, handler: Handler): void {
    this.#handlers.set(`${method} ${path}`, handler);
  }

  readonly fetch = async (input: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    const asked: Asked = {
      method: init.method ?? "GET",
      path: url.href.slice(BASE.length).split("?")[0] ?? "",
      query: url.searchParams,
      headers: new Headers(init.headers),
      body: typeof init.body === "string" ? init.body : "",
    };
    await Promise.resolve();
    init.signal?.throwIfAborted();
    const handler = this.#handlers.get(`${asked.method} ${asked.path}`);
    if (asked.path === "api/stream") {
      this.streams.push(asked);
      return handler ? (handler(asked) as Response) : this.#open(init.signal ?? undefined);
    }
    this.asked.push(asked);
    if (!handler) return problem(404, "NotFound", `${asked.method} ${asked.path}: no such route`);
    const answer = await handler(asked);
    if (answer instanceof Response) return answer;
    return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer);
  };

  /** Sends an event on the newest stream; waits until one is open. */
  async send(event: string, data: unknown): Promise<void> {
    await this.sendRaw(`id: ${this.#nextId++}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  async sendRaw(text: string): Promise<void> {
    while (!this.#controller) await new Promise((resolve) => setTimeout(resolve, 1));
    this.#controller.enqueue(new TextEncoder().encode(text));
  }

  /** The connection of the stream ends without a word. */
  cut(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  #open(signal: AbortSignal | undefined): Response {
    let mine: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        mine = controller;
        this.#controller = controller;
      },
    });
    signal?.addEventListener("abort", () => {
      if (this.#controller === mine) this.#controller = undefined;
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }
}
