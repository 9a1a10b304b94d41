// What a page must never do, whatever it shows: errors on the console, breaches of its content
// policy, answers that failed, requests to others than its own server.
//
//   const trouble = watch(context, "http://127.0.0.1:1234");
//   trouble.expect(401, /api\/session$/);
//   … trouble.found must be empty

import type { BrowserContext, Request, Response } from "playwright-core";

export interface Trouble {
  readonly found: string[];
  /** All that was written to the console, for traces. */
  readonly said: string[];
  /** An answer with this code is no trouble for such paths. */
  expect: (status: number, path: RegExp) => void;
  /** From now on the server may be away. */
  expectLoss: () => void;
  /** A server that is none of ours: what its pages do is no trouble of this one. */
  leaveAlone: (origin: string) => void;
}

// The browser's own words for an answer that failed; `onResponse` says more and knows exceptions.
const FAILED_LOAD = "Failed to load resource: the server responded with a status of";
const NO_ANSWER = /^Failed to load resource: net::ERR_[A-Z_]+$/;
// Addresses that no server is asked for.
const OF_THE_BROWSER = ["data:", "blob:", "about:"];

export function watch(context: BrowserContext, origin: string): Trouble {
  const found: string[] = [];
  const said: string[] = [];
  const expected: { status: number; path: RegExp }[] = [];
  const strangers: string[] = [];
  let away = false;
  const onResponse = (response: Response): void => {
    const status = response.status();
    if (status < 400) return;
    const path = new URL(response.url()).pathname;
    if (expected.some((one) => one.status === status && one.path.test(path))) return;
    found.push(`${response.request().method()} ${path} was answered with ${status}`);
  };
  const onRequest = (request: Request): void => {
    const url = new URL(request.url());
    if (OF_THE_BROWSER.includes(url.protocol) || url.origin === origin) return;
    if (strangers.includes(url.origin)) return;
    found.push(`a request to another origin: ${request.url()}`);
  };
  context.on("response", onResponse);
  context.on("request", onRequest);
  context.on("weberror", (error) => found.push(`uncaught: ${String(error.error().stack)}`));
  context.on("console", (message) => {
    const line = `${message.type()}: ${message.text()} (${message.location().url})`;
    said.push(line);
    if (message.type() !== "error" || message.text().startsWith(FAILED_LOAD)) return;
    if (away && NO_ANSWER.test(message.text())) return;
    if (strangers.some((one) => message.page()?.url().startsWith(`${one}/`))) return;
    found.push(`console ${line}`);
  });
  return {
    found,
    said,
    expect: (status, path) => expected.push({ status, path }),
    expectLoss: () => {
      away = true;
    },
    leaveAlone: (stranger) => strangers.push(stranger),
  };
}
