// Reads an answer of one JSON object per line while it grows.

import { ApiError } from "./problem";
import type { LogMark, LogRecord } from "./types";

export type LogAnswer = LogRecord | LogMark;

// One line of a log is at most 1 MB on a kubelet; escaped as JSON that can grow sixfold.
const MAX_LINE_CHARS = 8 * 1024 * 1024;

export async function* logRecords(response: Response): AsyncGenerator<LogAnswer[]> {
  if (!response.body) return;
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      const records = lines.filter((line) => line !== "").map(parse);
      if (records.length > 0) yield records;
      if (done) return;
      if (rest.length > MAX_LINE_CHARS) {
        throw new ApiError("BadAnswer", `a line of the logs exceeds ${MAX_LINE_CHARS} characters`);
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function parse(line: string): LogAnswer {
  try {
    return JSON.parse(line) as LogAnswer;
  } catch (cause) {
    throw new ApiError("BadAnswer", "a line of the logs is not JSON", { cause });
  }
}
