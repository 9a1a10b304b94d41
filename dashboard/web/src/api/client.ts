// All requests of the page but the stream of events go through here.
//
// Paths are relative to the page's base, so that nothing knows under which sub-path it runs.
// Errors are ApiError, always. A 401 is reported to `onUnauthenticated` as well, which shows the
// login above the page.
//
//   const api = new ApiClient({ base: document.baseURI, fetch, half, onUnauthenticated });
//   const list = await api.get<JobList>("api/jobs");

import { ApiError, readProblem } from "./problem";
import type { SessionHalf } from "./session_half";

export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

// The server answers from its cache, or gives up on the API server after 20 s.
const ANSWER_MS = 30_000;

export interface ClientOptions {
  base: string;
  fetch: Fetch;
  /** Goes with every request. */
  half: Pick<SessionHalf, "get">;
  onUnauthenticated: () => void;
}

interface RequestOptions {
  query?: Query;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

export class ApiClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  url(path: string, query: Query = {}): string {
    const url = new URL(path, this.#options.base);
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined) continue;
      if (typeof value === "object") for (const one of value) url.searchParams.append(name, one);
      else url.searchParams.set(name, String(value));
    }
    return url.href;
  }

  get<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>("GET", path, undefined, options);
  }

  post<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>("POST", path, { json: body }, options);
  }

  /** A manifest: its text reaches the server as it is. */
  postText<T>(path: string, text: string, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>("POST", path, { text }, options);
  }

  patch<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    return this.#json<T>("PATCH", path, { json: body }, options);
  }

  async delete(path: string, options: RequestOptions = {}): Promise<void> {
    await this.#json<unknown>("DELETE", path, undefined, options);
  }

  /** An answer that is read bit by bit; it ends when `signal` says so. */
  async open(path: string, options: RequestOptions = {}): Promise<Response> {
    return this.#send("GET", path, undefined, options);
  }

  async #json<T>(
    method: string,
    path: string,
    body: { json?: unknown; text?: string } | undefined,
    options: RequestOptions,
  ): Promise<T> {
    const late = AbortSignal.timeout(ANSWER_MS);
    const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
    const response = await this.#send(method, path, body, { ...options, signal });
    if (response.status === 204) return undefined as T;
    try {
      return (await response.json()) as T;
    } catch (cause) {
      const what = `${method} ${path}: the answer is not JSON`;
      throw new ApiError("BadAnswer", what, { status: response.status, cause });
    }
  }

  async #send(
    method: string,
    path: string,
    body: { json?: unknown; text?: string } | undefined,
    options: RequestOptions,
  ): Promise<Response> {
    const headers = new Headers({ Accept: "application/json", ...options.headers });
    const half = this.#options.half.get();
    if (half !== "") headers.set("X-TaaS-Session", half);
    const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
    if (options.signal) init.signal = options.signal;
    if (body?.text !== undefined) {
      headers.set("Content-Type", "application/yaml");
      init.body = body.text;
    } else if (body) {
      headers.set("Content-Type", "application/json");
      init.body = JSON.stringify(body.json);
    }
    let response: Response;
    try {
      response = await this.#options.fetch(this.url(path, options.query), init);
    } catch (cause) {
      // The caller has left: not an error of the network.
      if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
      throw new ApiError("Network", `${method} ${path}: no answer`, { cause });
    }
    if (response.ok) return response;
    const problem = await readProblem(response);
    if (problem.reason === "Unauthenticated") this.#options.onUnauthenticated();
    throw problem;
  }
}
