import { describe, expect, test } from "vitest";
import type { LogAnswer } from "./log_records";
import { logRecords } from "./log_records";

async function read(...chunks: Uint8Array<ArrayBuffer>[]): Promise<LogAnswer[]> {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const all: LogAnswer[] = [];
  for await (const records of logRecords(new Response(body))) all.push(...records);
  return all;
}

const RECORDS: LogAnswer[] = [
  { r: "worker-0", note: "begin" },
  { t: "2026-03-01T10:00:00Z", r: "worker-0", l: 'step 1, "loss" = 作业 é' },
  { r: "worker-0", note: "end" },
];
const TEXT = RECORDS.map((record) => JSON.stringify(record)).join("\n");

describe("the records of logs", () => {
  test("do not care where chunks are cut, not even inside of a character", async () => {
    const bytes = new TextEncoder().encode(`${TEXT}\n`);
    for (let at = 0; at <= bytes.length; at++) {
      expect(await read(bytes.slice(0, at), bytes.slice(at))).toEqual(RECORDS);
    }
  });

  test("include a last line without an end", async () => {
    expect(await read(new TextEncoder().encode(TEXT))).toEqual(RECORDS);
  });

  test("end with an error at what is no record", async () => {
    const bytes = new TextEncoder().encode("{}\nplain text\n");
    await expect(read(bytes)).rejects.toMatchObject({ reason: "BadAnswer" });
  });
});
