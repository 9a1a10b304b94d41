import { expect, test } from "vitest";
import type { Distribution } from "../../../api/events";
import { bandAt, bandLine, bandOutline, bandScene } from "./bands";

const NINE = [-4, -3, -2, -1, 0, 1, 2, 3, 4];
const point = (step: number, by = 1): Distribution => ({
  step,
  wall: step,
  values: NINE.map((value) => value * by),
});
const SIZE = { width: 100, height: 80 };

test("each distribution stands at its place, its values above each other", () => {
  const scene = bandScene([point(0), point(50), point(200)], [0, 50, 200], SIZE);
  expect(scene?.parts[0]?.map(({ x }) => x)).toEqual([0, 25, 100]);
  const [first] = scene?.parts[0] ?? [];
  expect(first?.y[4]).toBeCloseTo(40);
  expect([...(first?.y ?? [])].sort((a, b) => b - a)).toEqual(first?.y);
});

test("a band runs there along its upper line and back along its lower one", () => {
  const [part = []] = bandScene([point(0), point(10)], [0, 10], SIZE)?.parts ?? [];
  const dots = bandOutline(part, [3, 5]);
  expect(dots.map(([x]) => x)).toEqual([0, 100, 100, 0]);
  expect(dots[0]?.[1]).toBeLessThan(dots[3]?.[1] ?? 0);
  expect(bandLine(part, 4).map(([x]) => x)).toEqual([0, 100]);
});

test("what is no number parts the bands", () => {
  const bad = { ...point(5), values: NINE.map(() => NaN) };
  const scene = bandScene([point(0), bad, point(10)], [0, 5, 10], SIZE);
  expect(scene?.parts.map((part) => part.map(({ index }) => index))).toEqual([[0], [2]]);
  expect(bandScene([bad], [5], SIZE)).toBeUndefined();
  expect(bandScene([], [], SIZE)).toBeUndefined();
});

test("a single point has a width that one sees", () => {
  const [part = []] = bandScene([point(3)], [3], SIZE)?.parts ?? [];
  const across = bandOutline(part, [0, 8]).map(([x]) => x);
  expect(Math.max(...across) - Math.min(...across)).toBeGreaterThanOrEqual(4);
  expect(bandLine(part, 4)).toHaveLength(2);
});

test("one points at the closest", () => {
  const scene = bandScene([point(0), point(10)], [0, 10], SIZE);
  if (!scene) throw new Error("no scene");
  expect(bandAt(scene, 49)?.index).toBe(0);
  expect(bandAt(scene, 51)?.index).toBe(1);
  expect(bandAt(scene, 101)).toBeUndefined();
});
