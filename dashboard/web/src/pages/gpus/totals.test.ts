import { expect, test } from "vitest";
import { cellsOf } from "./cells";
import { device, holder, known, node } from "./fixture";
import { gpusOf, totalsOf } from "./totals";

test("what is held and what is used are two numbers", () => {
  const nodes = [
    node("a", {
      holders: [known("j", ["x", "y"])],
      devices: [device("x", { utilization: 0.2 }), device("y", { utilization: 0 })],
    }),
    node("b", { hidden: 3, holders: [holder("k", { count: 5, idle: true })] }),
    node("c", { schedulable: false, allocatable: 7 }),
  ];
  expect(totalsOf(nodes.map(cellsOf))).toEqual({
    nodes: 3,
    gpus: 24,
    allocated: 10,
    free: 13,
    usable: 6,
    unavailable: 1,
    idle: 5,
    measured: 2,
    used: 0.1,
    blocks: [{ size: 6, nodes: 1 }],
  });
});

test("where nobody measures there is no usage, not one of zero", () => {
  const nodes = [node("a", { holders: [known("j", ["x"])], devices: [device("x")] })];
  expect(totalsOf(nodes.map(cellsOf))).toMatchObject({ allocated: 1, measured: 0 });
  expect(totalsOf(nodes.map(cellsOf))).not.toHaveProperty("used");
});

test("free blocks say how scattered the rest is, the largest first", () => {
  const free = (count: number) =>
    node(`n${count}`, { holders: [holder("j", { count: 8 - count })] });
  const nodes = [free(1), free(4), { ...free(1), name: "other" }, free(0)];
  expect(totalsOf(nodes.map(cellsOf)).blocks).toEqual([
    { size: 4, nodes: 1 },
    { size: 1, nodes: 2 },
  ]);
});

test("pods ask for all their GPUs together", () => {
  expect(gpusOf([holder("a", { count: 2 }), holder("b", { count: 3 })])).toBe(5);
});
