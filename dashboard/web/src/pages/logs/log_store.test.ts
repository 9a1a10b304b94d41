import { expect, test } from "vitest";
import { CHUNK_LINES, LogStore } from "./log_store";

function fill(store: LogStore, count: number, from = 0): void {
  for (let i = from; i < from + count; i += 1) {
    const t = new Date(1_795_000_000_000 + i * 10).toISOString();
    store.push({ t, r: `worker-${i % 3}`, l: `line ${i}` });
  }
}

test("lines are as they came, before and after their chunk is full", () => {
  const store = new LogStore();
  fill(store, CHUNK_LINES + 10);
  for (const i of [0, 1, CHUNK_LINES - 1, CHUNK_LINES, CHUNK_LINES + 9]) {
    const line = store.line(i);
    expect(line).toMatchObject({ index: i, kind: "line", text: `line ${i}`, raw: undefined });
    expect(line?.replica).toBe(`worker-${i % 3}`);
    expect(line?.time).toBe(1_795_000_000_000 + i * 10);
  }
  expect(store.line(CHUNK_LINES + 10)).toBeUndefined();
  expect(store.replicas).toEqual(["worker-0", "worker-1", "worker-2"]);
});

test("notes stand among the lines with the time of the one before", () => {
  const store = new LogStore();
  store.push({ r: "ps-0", note: "begin", podNumber: 4 });
  store.push({ t: "2026-11-21T05:54:17Z", r: "ps-0", l: "a" });
  store.push({ r: "ps-0", note: "error", message: "lost" });
  expect(store.line(0)).toMatchObject({ kind: "begin", podNumber: 4, text: "" });
  expect(store.line(0)?.time).toBeNaN();
  expect(store.line(2)).toMatchObject({ kind: "error", text: "lost", replica: "ps-0" });
  expect(store.line(2)?.time).toBe(Date.parse("2026-11-21T05:54:17Z"));
});

test("escapes are kept beside the text, and no text has a line end", () => {
  const store = new LogStore();
  store.push({ t: "", r: "a", l: "\u001b[31mred\u001b[0m\nnext" });
  expect(store.line(0)).toMatchObject({
    text: "red␊next",
    raw: "\u001b[31mred\u001b[0m\nnext",
  });
});

test("beyond its size the oldest go, and numbers stay", () => {
  const store = new LogStore(2 * CHUNK_LINES);
  fill(store, 4 * CHUNK_LINES + 5);
  expect(store.first).toBe(2 * CHUNK_LINES);
  expect(store.dropped).toBe(2 * CHUNK_LINES);
  expect(store.length).toBe(2 * CHUNK_LINES + 5);
  expect(store.line(store.first)?.text).toBe(`line ${2 * CHUNK_LINES}`);
  expect(store.line(store.first - 1)).toBeUndefined();
  expect(store.line(store.end - 1)?.text).toBe(`line ${4 * CHUNK_LINES + 4}`);
});

test("after clear numbers go on, so that an old one is none of a new line", () => {
  const store = new LogStore();
  fill(store, 10);
  store.clear();
  expect(store.length).toBe(0);
  expect(store.line(5)).toBeUndefined();
  fill(store, 1, 77);
  expect(store.first).toBeGreaterThanOrEqual(10);
  expect(store.line(store.first)?.text).toBe("line 77");
});

test("parts are the lines of one chunk from anywhere on", () => {
  const store = new LogStore();
  fill(store, CHUNK_LINES + 3);
  for (const from of [0, 7, CHUNK_LINES - 1, CHUNK_LINES, CHUNK_LINES + 2]) {
    const part = store.part(from);
    expect(part?.from).toBe(from);
    const lines = part?.text.split("\n") ?? [];
    expect(lines[0]).toBe(`line ${from}`);
    expect(lines.length).toBe(part?.starts.length);
    lines.forEach((line, i) => {
      expect(part?.text.startsWith(line, part.starts[i])).toBe(true);
    });
  }
  expect(store.part(CHUNK_LINES + 3)).toBeUndefined();
});

test("a time is found among all chunks", () => {
  const store = new LogStore();
  fill(store, CHUNK_LINES + 10);
  const at = (i: number): number => 1_795_000_000_000 + i * 10;
  expect(store.firstSince(0)).toBe(0);
  expect(store.firstSince(at(77) - 1)).toBe(77);
  expect(store.firstSince(at(CHUNK_LINES + 2))).toBe(CHUNK_LINES + 2);
  expect(store.firstSince(at(CHUNK_LINES + 10))).toBeUndefined();
});
