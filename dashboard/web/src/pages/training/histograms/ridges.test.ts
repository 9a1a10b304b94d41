import { expect, test } from "vitest";
import { histogram } from "./fixture";
import { ridgeAt, ridgeScene } from "./ridges";

const SIZE = { width: 200, height: 100 };
const OFFSET = { stacked: true, height: "density", log: false } as const;
const OVERLAY = { ...OFFSET, stacked: false };
const ALL = [0, 100, 400].map((step) => histogram(step, [0, 1, 2], [1, 3]));
const PLACES = [0, 100, 400];

test("ridges stand by their step, the newest in front at the foot", () => {
  const scene = ridgeScene(ALL, PLACES, SIZE, OFFSET);
  expect(scene?.ridges.map(({ index }) => index)).toEqual([0, 1, 2]);
  const bases = scene?.ridges.map(({ base }) => base) ?? [];
  expect(bases[2]).toBe(100);
  expect((bases[1] ?? 0) - (bases[0] ?? 0)).toBeCloseTo(((bases[2] ?? 0) - (bases[0] ?? 0)) / 4);
  expect(scene?.ridges.map(({ age }) => age)).toEqual([0, 0.5, 1]);
  // The highest of the oldest still fits.
  const top = Math.min(...(scene?.ridges[0]?.dots.map(([, y]) => y) ?? []));
  expect(top).toBeGreaterThanOrEqual(0);
});

test("in the overlay all stand on one foot, with one scale", () => {
  const scene = ridgeScene([...ALL, histogram(500, [0, 2], [9])], [...PLACES, 500], SIZE, OVERLAY);
  expect(new Set(scene?.ridges.map(({ base }) => base))).toEqual(new Set([100]));
  // 3 of 4 on a width of 1.
  expect(scene?.heights.top).toBeCloseTo(0.75);
});

test("an outline starts and ends on its foot, and goes through the middle of each bar", () => {
  const scene = ridgeScene(ALL, PLACES, SIZE, OVERLAY);
  const dots = scene?.ridges[0]?.dots ?? [];
  expect(dots.map(([x]) => x)).toEqual([0, 50, 150, 200]);
  expect([dots[0]?.[1], dots[3]?.[1]]).toEqual([100, 100]);
  expect((100 - (dots[1]?.[1] ?? 0)) * 3).toBeCloseTo(100 - (dots[2]?.[1] ?? 0));
});

test("an outline has no more points than pixels, of however many bins", () => {
  const edges = Array.from({ length: 1501 }, (_, index) => index);
  const large = Array.from({ length: 51 }, (_, step) => histogram(step, edges, edges.slice(1)));
  const places = large.map(({ step }) => step);
  const scene = ridgeScene(large, places, SIZE, OFFSET);
  expect(Math.max(...(scene?.ridges.map(({ dots }) => dots.length) ?? []))).toBeLessThan(204);
});

test("one points at the foremost ridge that covers the place", () => {
  const scene = ridgeScene(ALL, PLACES, SIZE, OFFSET);
  if (!scene) throw new Error("no scene");
  expect(ridgeAt(scene, 150, 99)).toEqual({ index: 2, value: 1.5 });
  // Above all others there is only the oldest.
  const [oldest] = scene.ridges;
  const peak = oldest?.dots[2] ?? [0, 0];
  expect(ridgeAt(scene, peak[0], peak[1] + 1)?.index).toBe(0);
  expect(ridgeAt(scene, -1, 50)).toBeUndefined();
  expect(ridgeAt(scene, 50, 101)).toBeUndefined();
});

test("in the overlay one points at the closest curve", () => {
  const low = histogram(0, [0, 1, 2], [1, 1]);
  const high = histogram(1, [0, 1, 2], [0, 4]);
  const scene = ridgeScene([low, high], [0, 1], SIZE, OVERLAY);
  if (!scene) throw new Error("no scene");
  expect(ridgeAt(scene, 150, 6)?.index).toBe(1);
  expect(ridgeAt(scene, 150, 50)?.index).toBe(0);
});

test("a histogram of nothing is a ridge without an outline; alone it makes no scene", () => {
  const scene = ridgeScene([...ALL, histogram(500, [], [])], [...PLACES, 500], SIZE, OFFSET);
  expect(scene?.ridges.at(-1)?.dots).toEqual([]);
  expect(ridgeScene([histogram(0, [], [])], [0], SIZE, OFFSET)).toBeUndefined();
  expect(ridgeScene(ALL, PLACES, { width: 0, height: 0 }, OFFSET)).toBeUndefined();
});

test("a single histogram and a single bin fill the picture", () => {
  const scene = ridgeScene([histogram(7, [1, 2], [5])], [7], SIZE, OFFSET);
  expect(scene?.ridges[0]?.dots).toEqual([[0, 100], [0, 5], [200, 5], [200, 100]]);
});

test("a clock that was set back puts a ridge where its time says", () => {
  const scene = ridgeScene(ALL, [10, 0, 5], SIZE, OFFSET);
  expect(scene?.ridges.map(({ index }) => index)).toEqual([1, 2, 0]);
});
