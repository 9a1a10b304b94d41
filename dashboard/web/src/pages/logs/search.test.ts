import { expect, test, vi } from "vitest";
import { LogStore } from "./log_store";
import { Numbers } from "./numbers";
import { LogSearch } from "./search";
import type { Searcher } from "./searcher";
import { PageSearcher, TASK_MS, TooSlow, WorkerSearcher } from "./searcher";

function push(store: LogStore, count: number): void {
  for (let i = 0; i < count; i += 1) {
    const n = store.end;
    store.push({ t: "", r: "a", l: n % 100 === 0 ? `hit ${n}` : `line ${n}` });
  }
}

function query(text: string) {
  return { text, regex: false, matchCase: false };
}

async function idle(search: LogSearch): Promise<void> {
  await vi.waitFor(() => expect(search.progress).toBe(1));
  for (let i = 0; i < 8; i += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}

test("matches are found in all chunks, and in lines that come later", async () => {
  const store = new LogStore();
  push(store, 10_000);
  const changed = vi.fn();
  const search = new LogSearch(store, new PageSearcher(), changed);
  search.set(query("hit"));
  await idle(search);
  expect(search.hits.length).toBe(100);
  push(store, 150);
  search.look();
  await idle(search);
  expect(search.hits.length).toBe(102);
  expect(changed).toHaveBeenCalled();
});

test("from one match to the next, and from the last to the first", async () => {
  const store = new LogStore();
  push(store, 350);
  const search = new LogSearch(store, new PageSearcher(), () => undefined);
  search.set(query("hit"));
  await idle(search);
  expect(search.after(-1)).toBe(0);
  expect(search.after(0)).toBe(100);
  expect(search.after(150)).toBe(200);
  expect(search.after(300)).toBe(0);
  expect(search.before(250)).toBe(200);
  expect(search.before(0)).toBe(300);
});

test("another query has no matches of the one before", async () => {
  const store = new LogStore();
  push(store, 9_000);
  const search = new LogSearch(store, new PageSearcher(), () => undefined);
  search.set(query("hit"));
  search.set(query("line 77"));
  await idle(search);
  expect(search.hits.at(0)).toBe(77);
  search.set(query(""));
  expect(search.active).toBe(false);
  expect(search.hits.length).toBe(0);
});

test("lines that had to go are no matches any more", async () => {
  const store = new LogStore(8_192);
  push(store, 8_000);
  const search = new LogSearch(store, new PageSearcher(), () => undefined);
  search.set(query("hit"));
  await idle(search);
  push(store, 8_000);
  search.look();
  await idle(search);
  expect(search.hits.at(0)).toBeGreaterThanOrEqual(store.first);
  const first = Math.ceil(store.first / 100) * 100;
  expect(search.hits.length).toBe((15_900 - first) / 100 + 1);
});

test("what is no expression, or takes for ever, is said", async () => {
  const store = new LogStore();
  push(store, 10);
  const slow: Searcher = {
    find: () => Promise.reject(new TooSlow()),
    stop: () => undefined,
    close: () => undefined,
  };
  const search = new LogSearch(store, slow, () => undefined);
  search.set({ text: "(", regex: true, matchCase: false });
  expect(search.problem?.kind).toBe("invalid");
  search.set({ text: "(a+)+$", regex: true, matchCase: false });
  await vi.waitFor(() => expect(search.problem?.kind).toBe("slow"));
  expect(search.active).toBe(false);
});

class FakeWorker {
  onmessage: ((event: { data: number[] }) => void) | null = null;
  onerror: ((event: { message: string }) => void) | null = null;
  readonly tasks: unknown[] = [];
  ended = false;
  postMessage(task: unknown): void {
    this.tasks.push(task);
  }
  terminate(): void {
    this.ended = true;
  }
}

const PART = { from: 0, text: "a", starts: Uint32Array.of(0) };

test("a worker that does not answer is ended, and the next search gets another", async () => {
  vi.useFakeTimers();
  const workers: FakeWorker[] = [];
  const make = (): Worker => {
    workers.push(new FakeWorker());
    return workers.at(-1) as unknown as Worker;
  };
  const searcher = new WorkerSearcher(make);
  const first = searcher.find(/a/g, PART);
  // The time until it runs does not count.
  await vi.advanceTimersByTimeAsync(10 * TASK_MS);
  workers[0]?.onmessage?.({ data: [] });
  await vi.advanceTimersByTimeAsync(0);
  const failed = expect(first).rejects.toBeInstanceOf(TooSlow);
  await vi.advanceTimersByTimeAsync(TASK_MS);
  await failed;
  expect(workers[0]?.ended).toBe(true);
  const second = searcher.find(/a/g, PART);
  workers[1]?.onmessage?.({ data: [] });
  await vi.advanceTimersByTimeAsync(0);
  workers[1]?.onmessage?.({ data: [0] });
  await expect(second).resolves.toEqual([0]);
  vi.useRealTimers();
});

test("a search that was stopped while its worker started sends it nothing", async () => {
  const worker = new FakeWorker();
  const searcher = new WorkerSearcher(() => worker as unknown as Worker);
  const first = searcher.find(/a/g, PART);
  searcher.stop();
  const second = searcher.find(/b/g, PART);
  worker.onmessage?.({ data: [] });
  await expect(first).rejects.toThrow("stopped");
  await vi.waitFor(() => expect(worker.tasks.length).toBe(1));
  worker.onmessage?.({ data: [] });
  await expect(second).resolves.toEqual([]);
});

test("where no worker starts the page searches", async () => {
  const worker = new FakeWorker();
  const searcher = new WorkerSearcher(() => worker as unknown as Worker);
  const search = searcher.find(/a/g, PART);
  worker.onerror?.({ message: "blocked" });
  await expect(search).resolves.toEqual([0]);
});

test("a list of numbers finds, grows and drops its beginning", () => {
  const numbers = new Numbers();
  for (let i = 0; i < 5_000; i += 1) {
    numbers.push(i * 2);
    if (i % 1_000 === 0) numbers.dropBelow(i);
  }
  expect(numbers.at(0)).toBe(4_000);
  expect(numbers.length).toBe(3_000);
  expect(numbers.place(4_001)).toBe(1);
  expect(numbers.has(4_002)).toBe(true);
  expect(numbers.has(4_003)).toBe(false);
  expect(numbers.at(3_000)).toBeUndefined();
  expect(numbers.place(99_999)).toBe(3_000);
});
