import { expect, test } from "vitest";
import { replica } from "../job_fixture";
import { gridLines, lineOf, moveFrom } from "./grid_lines";
import { placesOf } from "./square_places";

// chief 0 / worker 1 2 3 / worker 4 5
const REPLICAS = [replica("chief", 0), ...[0, 1, 2, 3, 4].map((index) => replica("worker", index))];
const LINES = gridLines(REPLICAS, 3);

test("a role begins a line of its own and goes on in lines below", () => {
  expect(LINES).toEqual([
    { role: "chief", first: true, from: 0, to: 1 },
    { role: "worker", first: true, from: 1, to: 4 },
    { role: "worker", first: false, from: 4, to: 6 },
  ]);
  expect([0, 1, 3, 4, 5].map((at) => lineOf(LINES, at))).toEqual([0, 1, 1, 2, 2]);
});

test("arrows, Home, End and pages lead through the lines and stop at the ends", () => {
  const go = (at: number, key: string, control = false) => moveFrom(at, key, LINES, 2, control);
  expect(go(0, "ArrowRight")).toBe(1);
  expect(go(0, "ArrowLeft")).toBe(0);
  expect(go(5, "ArrowRight")).toBe(5);
  expect(go(0, "ArrowDown")).toBe(1);
  expect(go(3, "ArrowDown")).toBe(5);
  expect(go(5, "ArrowUp")).toBe(2);
  expect(go(5, "ArrowDown")).toBe(5);
  expect(go(2, "Home")).toBe(1);
  expect(go(2, "End")).toBe(3);
  expect(go(2, "Home", true)).toBe(0);
  expect(go(2, "End", true)).toBe(5);
  expect(go(0, "PageDown")).toBe(4);
  expect(go(5, "PageUp")).toBe(0);
  expect(go(0, "x")).toBeUndefined();
  expect(moveFrom(0, "ArrowDown", [], 1)).toBeUndefined();
});

test("there is always a column, however narrow the window is", () => {
  expect(placesOf(0, 2000).columns).toBe(1);
  expect(gridLines(REPLICAS, 0)).toHaveLength(6);
});

test("many replicas get small squares, few get large ones with numbers", () => {
  expect(placesOf(1200, 96).size).toBe("large");
  expect(placesOf(1200, 97).size).toBe("small");
});
