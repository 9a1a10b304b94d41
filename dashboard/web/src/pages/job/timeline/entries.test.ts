import { expect, test } from "vitest";
import type { ClusterEvent, RestartRecord } from "../../../api/types";
import { dayHeadings, matching, subjectsOf, timelineOf, withAttempts } from "./entries";

const event = (at: string, more: Partial<ClusterEvent> = {}): ClusterEvent => ({
  type: "Normal",
  reason: "Pulled",
  message: "",
  count: 1,
  at,
  about: "worker-1",
  ...more,
});
const restart = (at: string, attempt: number): RestartRecord => ({
  role: "worker",
  index: 1,
  attempt,
  podNumber: 1,
  cause: "killed",
  message: "exit code 137",
  node: "n",
  at,
});

test("conditions, events and restarts stand in one order, newest first", () => {
  const entries = timelineOf({
    conditions: [
      { type: "Running", status: true, reason: "", message: "", at: "2026-11-20T10:02:00Z" },
    ],
    events: [event("2026-11-20T10:01:00Z"), event("2026-11-20T10:04:00Z", { type: "Warning" })],
    restartHistory: [restart("2026-11-20T10:03:00Z", 1)],
  });
  expect(entries.map(({ kind }) => kind)).toEqual(["warning", "restart", "condition", "event"]);
});

test("neighbours that say the same are one entry with their count and where they began", () => {
  const entries = timelineOf({
    conditions: [],
    events: [
      event("2026-11-20T10:01:00Z", { count: 3 }),
      event("2026-11-20T10:02:00Z", { count: 4 }),
      event("2026-11-20T10:03:00Z", { about: "worker-2" }),
      event("2026-11-20T10:04:00Z"),
    ],
  });
  expect(entries.map(({ about, count, since }) => [about, count, since])).toEqual([
    ["worker-1", 1, undefined],
    ["worker-2", 1, undefined],
    ["worker-1", 7, "2026-11-20T10:01:00Z"],
  ]);
});

test("each entry has a key of its own, also where two are alike to the letter", () => {
  const same = [restart("2026-11-20T10:00:00Z", 1), restart("2026-11-20T10:00:00Z", 1)];
  const entries = timelineOf({ conditions: [], events: [], restartHistory: same });
  expect(new Set(entries.map(({ key }) => key)).size).toBe(2);
});

test("a time that is none does not hide what is new", () => {
  const entries = timelineOf({
    conditions: [],
    events: [event("never"), event("2026-11-20T10:00:00Z", { reason: "New" })],
  });
  expect(entries.map(({ title }) => title)).toEqual(["New", "Pulled"]);
});

test("an attempt begins after the last restart of the one before", () => {
  const history = [
    restart("2026-11-20T10:00:00Z", 1),
    restart("2026-11-20T11:00:00Z", 1),
    restart("2026-11-20T12:00:00Z", 2),
  ];
  const entries = timelineOf({ conditions: [], events: [], restartHistory: history });
  const rows = withAttempts(entries, 3).map((row) => ("attempt" in row ? row.attempt : row.at));
  expect(rows).toEqual([
    3,
    "2026-11-20T12:00:00Z",
    2,
    "2026-11-20T11:00:00Z",
    "2026-11-20T10:00:00Z",
  ]);
});

test("where no restart says when an attempt began there is no mark", () => {
  const entries = timelineOf({
    conditions: [],
    events: [],
    restartHistory: [restart("2026-11-20T10:00:00Z", 1)],
  });
  expect(withAttempts(entries, 5)).toEqual(entries);
});

test("the filter takes kinds and one replica", () => {
  const entries = timelineOf({
    conditions: [],
    events: [
      event("2026-11-20T10:01:00Z", { type: "Warning" }),
      event("2026-11-20T10:02:00Z", { about: "worker-10" }),
      event("2026-11-20T10:03:00Z", { about: "worker-9" }),
    ],
  });
  expect(matching(entries, { kinds: ["warning"], about: "" })).toHaveLength(1);
  expect(matching(entries, { kinds: [], about: "worker-10" })).toHaveLength(1);
  expect(matching(entries, { kinds: ["warning"], about: "worker-10" })).toHaveLength(0);
  expect(subjectsOf(entries)).toEqual(["job", "worker-1", "worker-9", "worker-10"]);
});

test("a day is told where it begins", () => {
  const entries = timelineOf({
    conditions: [],
    events: [
      event("2026-11-20T10:00:00Z", { reason: "a" }),
      event("2026-11-20T11:00:00Z", { reason: "b" }),
      event("2026-11-21T10:00:00Z", { reason: "c" }),
    ],
  });
  const days = dayHeadings(entries, (at) => at.slice(0, 10));
  expect(days).toEqual(["2026-11-21", "2026-11-20", undefined]);
});
