import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { row } from "../testing/rows";
import { JobsStore, NOTIFY_MS } from "./jobs_store";
import type { JobRow } from "./types";

let store: JobsStore;
let told: number;

beforeEach(() => {
  vi.useFakeTimers();
  store = new JobsStore();
  told = 0;
  store.subscribe(() => (told += 1));
});

afterEach(() => {
  vi.useRealTimers();
});

const full = (...rows: JobRow[]) => ({ full: true, rows, gone: [] });
const delta = (rows: JobRow[], gone: string[] = []) => ({ full: false, rows, gone });
/** As a new answer of the server: equal, but other objects. */
const again = (one: JobRow): JobRow => structuredClone(one);

function rows(): readonly JobRow[] {
  vi.advanceTimersByTime(NOTIFY_MS);
  return store.get().rows;
}

describe("the store of jobs", () => {
  test("is not complete before the first full event, and then at once", () => {
    store.apply(delta([row("early")]));
    expect(store.get().complete).toBe(false);
    store.apply(full());
    expect(store.get()).toEqual({ rows: [], complete: true });
  });

  test("changes, adds and removes what a delta says, and keeps the others", () => {
    store.apply(full(row("a"), row("b"), row("c")));
    const [a, b] = rows();
    store.apply(delta([row("b", { restarts: 3 }), row("d")], ["uid-c"]));
    const after = rows();
    expect(after.map((one) => one.name)).toEqual(["a", "b", "d"]);
    expect(after[0]).toBe(a);
    expect(after[1]).not.toBe(b);
    expect(after[1]?.restarts).toBe(3);
  });

  test("replaces all rows with a full event, but keeps the identity of equal ones", () => {
    const a = row("a", { labels: { team: "x" }, progress: undefined });
    store.apply(full(a, row("b"), row("c")));
    const before = rows();
    store.apply(full(again(a), row("b", { gpus: 8 })));
    const after = rows();
    expect(after.map((one) => one.name)).toEqual(["a", "b"]);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });

  test("says nothing when nothing has changed", () => {
    store.apply(full(row("a")));
    rows();
    const before = { told, snapshot: store.get() };
    store.apply(full(row("a")));
    store.apply(delta([row("a")], ["uid-unknown"]));
    rows();
    expect({ told, snapshot: store.get() }).toEqual(before);
    expect(store.get()).toBe(before.snapshot);
  });

  test("tells of a burst of changes once", () => {
    store.apply(full(row("a")));
    rows();
    const before = told;
    for (let i = 1; i <= 100; i++) store.apply(delta([row("a", { restarts: i })]));
    expect(told - before).toBe(0);
    expect(rows()[0]?.restarts).toBe(100);
    expect(told - before).toBe(1);
  });

  test("forgets everything for another user", () => {
    store.apply(full(row("a")));
    store.clear();
    expect(store.get()).toEqual({ rows: [], complete: false });
  });
});
