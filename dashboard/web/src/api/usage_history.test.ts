import { describe, expect, test } from "vitest";
import type { UsageSample } from "./usage_history";
import { linesOf, withSample } from "./usage_history";

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
