import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiClient } from "../../api/client";
import type { JobRef } from "../../api/paths";
import type { Asked } from "../../testing/fake_server";
import { BASE, FakeServer, problem } from "../../testing/fake_server";
import { FakeLogStream, lineOf, LIVE } from "./fake_log_stream";
import type { FeedOptions } from "./feed";
import { LogFeed } from "./feed";
import { LogStore } from "./log_store";

const JOB: JobRef = { kind: "TFJob", namespace: "ml", name: "bert" };
const PATH = "api/jobs/ml/tfjobs/bert/logs";
const ALL: FeedOptions = { replicas: [], tail: 1000, previous: false, follow: true };

let server: FakeServer;
let streams: FakeLogStream[];
let store: LogStore;
let feed: LogFeed;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  streams = [];
  server.on("GET", PATH, () => {
    streams.push(new FakeLogStream());
    return streams.at(-1)?.response;
  });
  store = new LogStore();
  const half = { get: () => "" };
  const options = { base: BASE, fetch: server.fetch, half, onUnauthenticated: () => undefined };
  feed = new LogFeed(new ApiClient(options), JOB, store, () => undefined, () => 0);
});

afterEach(() => {
  feed.stop();
  vi.useRealTimers();
});

async function run(milliseconds = 0): Promise<void> {
  // Streams resolve in tasks of the platform, which fake timers do not run.
  for (let i = 0; i < 5; i += 1) {
    await vi.advanceTimersByTimeAsync(milliseconds / 5);
    await new Promise<void>((resolve) => setImmediateReal(resolve));
  }
}
const setImmediateReal = setImmediate;

function lines(): string[] {
  return Array.from({ length: store.length }, (_, i) => store.line(store.first + i)?.text ?? "");
}

function query(index: number): Record<string, string> {
  return Object.fromEntries((server.asked[index] as Asked).query);
}

test("what was written comes, then what is being written", async () => {
  feed.start({ ...ALL, replicas: ["worker", "ps-0"], tail: 100 });
  await run();
  expect(server.asked[0]?.query.getAll("replica")).toEqual(["worker", "ps-0"]);
  expect(query(0)).toMatchObject({ tail: "100", follow: "true" });
  expect(query(0)).not.toHaveProperty("since");
  streams[0]?.send(lineOf(0, "a"), lineOf(1, "b"));
  await run();
  expect(lines()).toEqual(["a", "b"]);
  expect(feed.status.phase).toBe("loading");
  streams[0]?.send(LIVE, lineOf(2, "c"));
  await run();
  expect(lines()).toEqual(["a", "b", "c"]);
  expect(feed.status.phase).toBe("live");
  expect(feed.liveFrom).toBe(2);
});

test("a log that is not followed ends", async () => {
  feed.start({ ...ALL, follow: false });
  await run();
  expect(query(0)).not.toHaveProperty("follow");
  streams[0]?.send(lineOf(0, "a"));
  streams[0]?.end();
  await run();
  expect(feed.status.phase).toBe("ended");
});

test("after a lost connection it goes on, and no line comes twice", async () => {
  feed.start(ALL);
  await run();
  streams[0]?.send(lineOf(0, "a"), lineOf(20, "b"));
  await run();
  streams[0]?.breakOff();
  await run();
  expect(feed.status).toMatchObject({ phase: "waiting", error: { reason: "Network" } });
  await run(1_000);
  expect(query(1)).toMatchObject({ tail: "0", since: "2026-11-21T05:00:10.000Z" });
  streams[1]?.send(lineOf(20, "b"), lineOf(21, "c"), LIVE);
  await run(1_000);
  expect(lines()).toEqual(["a", "b", "c"]);
  expect(feed.status.phase).toBe("live");
});

test("a stream that ends while the job goes on is opened again; else it is over", async () => {
  feed.start(ALL);
  await run();
  streams[0]?.end();
  await run(1_000);
  expect(streams.length).toBe(2);
  feed.setOver(true);
  streams[1]?.end();
  await run(1_000);
  expect(feed.status.phase).toBe("ended");
  expect(streams.length).toBe(2);
});

test("a stream without a sign of life is opened again", async () => {
  feed.start(ALL);
  await run();
  for (let i = 0; i < 4; i += 1) {
    await run(20_000);
    streams[0]?.sendRaw("\n");
    await run();
  }
  expect(streams.length).toBe(1);
  // The body of a real answer ends with its request.
  await run(61_000);
  streams[0]?.breakOff();
  await run(2_000);
  expect(streams.length).toBe(2);
});

test("a refusal is an error that one can try again", async () => {
  server.on("GET", PATH, () => problem(403, "Forbidden", "you may not"));
  feed.start(ALL);
  await run();
  expect(feed.status).toMatchObject({ phase: "failed", error: { message: "you may not" } });
  await run(60_000);
  expect(server.asked.length).toBe(1);
  feed.again();
  await run();
  expect(server.asked.length).toBe(2);
});

test("to stop following keeps the lines; to follow again goes on after them", async () => {
  feed.start(ALL);
  await run();
  streams[0]?.send(lineOf(30, "a"));
  await run();
  expect(feed.start({ ...ALL, follow: false })).toBe(false);
  expect(feed.status.phase).toBe("stopped");
  streams[0]?.send(lineOf(31, "too late"));
  await run();
  expect(lines()).toEqual(["a"]);
  expect(feed.start(ALL)).toBe(false);
  await run();
  streams[1]?.send(lineOf(30, "a"), lineOf(31, "b"), LIVE);
  await run();
  expect(lines()).toEqual(["a", "b"]);
});

test("while nobody looks there is no connection, and then it goes on", async () => {
  feed.start(ALL);
  await run();
  streams[0]?.send(lineOf(30, "a"));
  await run(1_000);
  feed.rest();
  streams[0]?.send(lineOf(31, "too late"));
  await run(60_000);
  expect(streams.length).toBe(1);
  feed.wake();
  await run();
  streams[1]?.send(lineOf(30, "a"), lineOf(31, "b"), LIVE);
  await run(1_000);
  expect(lines()).toEqual(["a", "b"]);
  expect(feed.status.phase).toBe("live");
  feed.wake();
  await run();
  expect(streams.length).toBe(2);
});

test("other replicas are another log", async () => {
  feed.start(ALL);
  await run();
  streams[0]?.send(lineOf(0, "a"));
  await run();
  expect(feed.start({ ...ALL, replicas: ["ps-0"] })).toBe(true);
  await run();
  streams[0]?.send(lineOf(1, "of those before"));
  streams[1]?.send(lineOf(0, "p", "ps-0"));
  await run();
  expect(lines()).toEqual(["p"]);
});
