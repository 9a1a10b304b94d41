import { describe, expect, test } from "vitest";
import type { UsageSample } from "./usage_history";
import { joinedLines, linesOf, recordedLines, withSample } from "./usage_history";

const sample = (at: number, pods: Record<string, number> = { a: 1 }): UsageSample => ({
  at,
  pods: Object.fromEntries(
    Object.entries(pods).map(([pod, cpu]) => [pod, { cpu, memoryMiB: 10 * cpu }]),
  ),
});

describe("what pods have used", () => {
  test("the newest half hour is kept, and less of a job of many pods", () => {
    let history: readonly UsageSample[] = [];
    for (let i = 0; i < 400; i++) history = withSample(history, sample(i));
    expect(history).toHaveLength(360);
    expect(history.at(-1)?.at).toBe(399);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, 1]));
    for (let i = 0; i < 3; i++) history = withSample(history, sample(400 + i, many));
    expect(history).toHaveLength(100);
  });

  test("a pod's line is broken where nothing was measured for long", () => {
    const history = [sample(0), sample(5_000, { b: 9 }), sample(10_000, { a: 2 }), sample(50_000)];
    expect(linesOf(history, "a", "memoryMiB")).toEqual([
      [
        { at: 0, value: 10 },
        { at: 10_000, value: 20 },
      ],
      [{ at: 50_000, value: 10 }],
    ]);
    expect(linesOf(history, "c", "cpu")).toEqual([]);
    expect(linesOf(history, "constructor", "cpu")).toEqual([]);
  });
});

describe("what the server has recorded", () => {
  const recorded = {
    every: 0,
    replicas: {
      "worker-0": [
        [100, 1.5, 64],
        [160, 2, null, 0.5, 1024],
        [1000, 3],
      ],
    },
  };

  test("is lines by replica and kind, broken where nothing was measured for long", () => {
    expect(recordedLines(recorded, "worker-0", "cpu")).toEqual([
      [
        { at: 100_000, value: 1.5 },
        { at: 160_000, value: 2 },
      ],
      [{ at: 1_000_000, value: 3 }],
    ]);
    expect(recordedLines(recorded, "worker-0", "memoryMiB")).toEqual([
      [{ at: 100_000, value: 64 }],
    ]);
    expect(recordedLines(recorded, "worker-0", "gpu")).toEqual([[{ at: 160_000, value: 0.5 }]]);
    expect(recordedLines({ ...recorded, every: 640 }, "worker-0", "cpu")).toHaveLength(1);
    for (const none of ["worker-1", "constructor"]) {
      expect(recordedLines(recorded, none, "cpu")).toEqual([]);
    }
    expect(recordedLines(undefined, "worker-0", "cpu")).toEqual([]);
  });

  test("goes on with what the page sees", () => {
    const live = [[{ at: 170_000, value: 9 }], [{ at: 500_000, value: 8 }]];
    const before = recordedLines(recorded, "worker-0", "cpu", 170_000);
    expect(joinedLines(before, live)).toEqual([[...before[0]!, live[0]![0]!], live[1]!]);
    expect(joinedLines(before, [live[1]!])).toEqual([before[0]!, live[1]!]);
    expect(joinedLines(before, [])).toEqual(before);
    expect(joinedLines([], live)).toEqual(live);
  });
});
