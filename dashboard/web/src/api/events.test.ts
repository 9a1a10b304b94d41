import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake_server";
import { ApiClient } from "./client";
import { readDistributions, readEvents, readHistograms } from "./events";

const JOB = { kind: "TFJob", namespace: "ml", name: "a" } as const;
const EVENTS = "api/jobs/ml/tfjobs/a/events";
const { signal } = new AbortController();

function of(server: FakeServer): ApiClient {
  const onUnauthenticated = (): void => undefined;
  const half = { get: () => "" };
  return new ApiClient({ base: "http://taas.test/", fetch: server.fetch, half, onUnauthenticated });
}

test("numbers that JSON does not have are read from their texts", async () => {
  const server = new FakeServer();
  server.on("GET", `${EVENTS}/data/histograms/series`, () => ({
    inRange: 9,
    histograms: [
      {
        ...{ step: 3, wall: 1.5, min: "NaN", max: "Infinity" },
        ...{ edges: ["-Infinity", 0, 1], counts: [2, "NaN"] },
      },
    ],
  }));
  const choice = { run: "eval", tag: "a/w", steps: [0.5, 99.5] } as const;
  const { histograms, inRange } = await readHistograms(of(server), JOB, choice, signal);
  expect(inRange).toBe(9);
  expect(histograms).toEqual([
    {
      ...{ step: 3, wall: 1.5, min: NaN, max: Infinity },
      ...{ edges: [-Infinity, 0, 1], counts: [2, NaN], total: 2 },
    },
  ]);
  const [asked] = server.asked;
  expect(Object.fromEntries(asked?.query ?? [])).toEqual({
    ...{ run: "eval", tag: "a/w", steps: "1..99" },
  });
});

test("a distribution has its values in the order of the basis points", async () => {
  const server = new FakeServer();
  const path = `${EVENTS}/data/plugin/distributions/distributions`;
  server.on("GET", path, () => [[1.5, 7, [[10000, "Infinity"], [0, -1], [5000, 0.5]]]]);
  const all = await readDistributions(of(server), JOB, { run: ".", tag: "w" }, signal);
  expect(all).toEqual([
    { step: 7, wall: 1.5, values: [-1, NaN, NaN, NaN, 0.5, NaN, NaN, NaN, Infinity] },
  ]);
});

test("tags are asked for where there are runs", async () => {
  const server = new FakeServer();
  const state = { files: 0, bytes: 0, bytesTotal: 0, source: "", message: "none", problems: [] };
  server.on("GET", EVENTS, () => ({ ...state, runs: 0 }));
  expect((await readEvents(of(server), JOB, signal)).tags).toEqual([]);
  expect(server.asked).toHaveLength(1);
  server.on("GET", EVENTS, () => ({ ...state, runs: 1 }));
  server.on("GET", `${EVENTS}/data/histograms/tags`, () => ({ tags: [{ tag: "w" }] }));
  expect((await readEvents(of(server), JOB, signal)).tags).toHaveLength(1);
});
