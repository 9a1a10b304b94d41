import { expect, test } from "vitest";
import type { GpuNode } from "../../api/types";
import type { Cell } from "./cells";
import { cellsOf, groupOf } from "./cells";
import { device, holder, known, node } from "./fixture";

/** "x:a" a device and who holds it, "?:a" one of which only a count is known, "hidden", "free"… */
function draw(of: GpuNode): string[] {
  return cellsOf(of).cells.map((cell: Cell) =>
    cell.kind === "held"
      ? `${cell.device?.id ?? "?"}:${cell.holders.map((one) => one.job?.name ?? one.pod).join("+")}`
      : cell.device
        ? `${cell.device.id}:${cell.kind}`
        : cell.kind,
  );
}

test.each<[string, GpuNode, string[]]>([
  ["an empty node", node("n", { capacity: 2, allocatable: 2 }), ["free", "free"]],
  [
    "devices in the order of their numbers, then counts, hidden ones, free ones",
    node("n", {
      capacity: 7,
      allocatable: 7,
      hidden: 1,
      holders: [holder("c", { count: 2 }), known("a", ["10", "9"])],
      devices: [device("10"), device("9")],
    }),
    ["9:a", "10:a", "?:c", "?:c", "hidden", "free", "free"],
  ],
  [
    "a pod of which only some devices are known",
    node("n", {
      capacity: 3,
      allocatable: 3,
      holders: [known("a", ["x"], { count: 3 })],
      devices: [device("x")],
    }),
    ["x:a", "?:a", "?:a"],
  ],
  [
    "two pods that claim one device",
    node("n", {
      capacity: 2,
      allocatable: 2,
      holders: [known("old", ["x"]), known("new", ["x"])],
      devices: [device("x", { claims: 2 })],
    }),
    ["x:old+new", "free"],
  ],
  [
    "free slots that are known by name",
    node("n", {
      capacity: 3,
      allocatable: 3,
      holders: [known("a", ["1"])],
      devices: [device("0"), device("1"), device("2")],
    }),
    ["0:free", "1:a", "2:free"],
  ],
  [
    "one that the node does not give out",
    node("n", { capacity: 3, allocatable: 2, holders: [holder("a")] }),
    ["?:a", "free", "unavailable"],
  ],
  [
    "a broken one that somebody holds is the one that is not given out",
    node("n", {
      capacity: 3,
      allocatable: 2,
      holders: [known("a", ["x"])],
      devices: [device("x", { health: "Unhealthy" })],
    }),
    ["x:a", "free", "free"],
  ],
  [
    "a device that no list of devices has",
    node("n", { capacity: 1, allocatable: 1, holders: [known("a", ["x"])] }),
    ["x:a"],
  ],
  [
    "more is held than there is",
    node("n", { capacity: 1, allocatable: 1, holders: [holder("a", { count: 2 })] }),
    ["?:a", "?:a"],
  ],
])("%s", (_, of, want) => {
  expect(draw(of)).toEqual(want);
});

test("where capacity is not known nothing is free", () => {
  const of = node("n", { holders: [holder("a")] });
  delete of.capacity;
  delete of.allocatable;
  expect(draw(of)).toEqual(["?:a"]);
  expect(cellsOf(of)).toMatchObject({ held: 1, free: 0, over: false });
});

test("counts agree with the squares", () => {
  const of = node("n", {
    hidden: 1,
    allocatable: 7,
    holders: [holder("a", { idle: true, count: 2 }), holder("b")],
  });
  expect(cellsOf(of)).toMatchObject({
    held: 3,
    hidden: 1,
    free: 3,
    usable: 3,
    unavailable: 1,
    idle: 2,
    over: false,
  });
  expect(cellsOf(node("n", { capacity: 1, holders: [holder("a", { count: 2 })] })).over).toBe(true);
});

test("what is free on a node that takes no pods is no use", () => {
  expect(cellsOf(node("n", { schedulable: false }))).toMatchObject({ free: 8, usable: 0 });
  expect(cellsOf(node("n", { ready: false }))).toMatchObject({ free: 8, usable: 0 });
});

test.each([-5, NaN, Infinity, 2e9])("a node that says it has %s GPUs stays within bounds", (n) => {
  const of = node("n", {
    capacity: n,
    allocatable: n,
    hidden: n,
    holders: [holder("a", { count: n })],
  });
  expect(cellsOf(of).cells.length).toBeLessThanOrEqual(1024);
});

test("squares of one job are of one group, and pods without one stand alone", () => {
  const a = holder("a", { pod: "a-worker-0" });
  const b = holder("a", { pod: "a-worker-1" });
  expect(groupOf(a)).toBe(groupOf(b));
  delete a.job;
  delete b.job;
  expect(groupOf(a)).not.toBe(groupOf(b));
});
