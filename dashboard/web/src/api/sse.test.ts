import { describe, expect, test } from "vitest";
import type { ServerEvent } from "./sse";
import { EventParser, MAX_EVENT_CHARS } from "./sse";

function parse(...chunks: string[]): ServerEvent[] {
  const events: ServerEvent[] = [];
  const parser = new EventParser((event) => events.push(event));
  for (const chunk of chunks) parser.push(chunk);
  return events;
}

const STREAM =
  "\ufeff: hello\r\n\r\n" +
  'id: 7\nevent: jobs\ndata: {"a":\ndata: "ä作业"}\n\n' +
  ": beat\n\n" +
  "data:no space\rid: 8\r\r" +
  "event: end\r\ndata:  two spaces\r\n\r\n" +
  "data: never finished";

const EVENTS: ServerEvent[] = [
  { name: "jobs", data: '{"a":\n"ä作业"}', id: "7" },
  { name: "message", data: "no space", id: "8" },
  { name: "end", data: " two spaces", id: "8" },
];

describe("the parser of events", () => {
  test("reads a stream of several events, comments and all three line ends", () => {
    expect(parse(STREAM)).toEqual(EVENTS);
  });

  test("does not care where chunks are cut", () => {
    for (let first = 0; first <= STREAM.length; first++) {
      for (let second = first; second <= STREAM.length; second += 3) {
        const chunks = [
          STREAM.slice(0, first),
          STREAM.slice(first, second),
          STREAM.slice(second),
        ];
        expect(parse(...chunks), `cut at ${first} and ${second}`).toEqual(EVENTS);
      }
    }
    expect(parse(...STREAM)).toEqual(EVENTS);
  });

  test("says what to resume after, also from an event without data", () => {
    const parser = new EventParser(() => undefined);
    parser.push("id: 41\n");
    expect(parser.lastId).toBe("");
    parser.push("\nid: 42\n\n");
    expect(parser.lastId).toBe("42");
  });

  test("takes no id with a zero byte and ignores fields that it does not know", () => {
    expect(parse("id: 1\n\nid: 2\0\nfoo: bar\nretry: 5\ndata\n\n")).toEqual([
      { name: "message", data: "", id: "1" },
    ]);
  });

  test("refuses an event without end before it fills the memory", () => {
    const parser = new EventParser(() => undefined);
    const chunk = "x".repeat(16 * 1024 * 1024);
    expect(() => {
      for (let sum = 0; sum <= MAX_EVENT_CHARS; sum += chunk.length) parser.push(chunk);
    }).toThrow(RangeError);
  });
});
