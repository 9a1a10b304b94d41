// An answer of the server's logs inside of a test, which the test writes.

import type { LogAnswer } from "../../api/log_records";
import type { LogMark, LogRecord } from "../../api/types";

export const LIVE: LogMark = { r: "", note: "live" };

export class FakeLogStream {
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly response = new Response(
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    }),
    { headers: { "Content-Type": "application/x-ndjson" } },
  );

  send(...records: LogAnswer[]): void {
    this.sendRaw(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  }

  sendRaw(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  end(): void {
    this.#controller?.close();
  }

  breakOff(): void {
    this.#controller?.error(new TypeError("network error"));
  }
}

/** The n-th line of a log that has one each second. */
export function lineOf(n: number, text: string, replica = "worker-0"): LogRecord {
  const at = Date.parse("2026-11-21T05:00:00Z") + n * 1000;
  return { t: new Date(at).toISOString(), r: replica, l: text };
}
