import { expect, test } from "vitest";
import type { GpuNode } from "../../api/types";
import { cellsOf } from "./cells";
import type { Wish } from "./finder";
import { find } from "./finder";
import { holder, node } from "./fixture";

/** A node of 8 with so many free. */
const free = (name: string, count: number, more: Partial<GpuNode> = {}): GpuNode =>
  node(name, { holders: count < 8 ? [holder(name, { count: 8 - count })] : [], ...more });

function ask(nodes: GpuNode[], wish: Partial<Wish>, etas: Record<string, number> = {}) {
  const full = { workers: 4, gpus: 2, product: "", ...wish };
  return find(nodes.map(cellsOf), full, (job) => etas[job]);
}

const places = (found: ReturnType<typeof ask>[number] | undefined): string =>
  (found?.places ?? []).map(({ node: name, workers }) => `${name}×${workers}`).join(" ");

test("one node that takes all is best, and of these the fullest", () => {
  const [found] = ask([free("a", 8), free("b", 4), free("c", 6)], { workers: 2 });
  expect(found?.fits).toBe(2);
  expect(places(found)).toBe("b×2");
});

test("else as few nodes as can be", () => {
  const [found] = ask([free("a", 2), free("b", 4), free("c", 5), free("d", 3)], { workers: 5 });
  expect(found?.fits).toBe(5);
  expect(places(found)).toBe("b×2 c×2 a×1");
});

test("a worker is on one node: scattered GPUs are no room", () => {
  const [found] = ask([free("a", 1), free("b", 1), free("c", 3)], { workers: 2 });
  expect(found).toMatchObject({ fits: 1, largest: 3, nodeSize: 8 });
});

test("a node that takes no pods has no room", () => {
  const nodes = [free("a", 8, { schedulable: false }), free("b", 8, { ready: false })];
  expect(ask(nodes, {})).toEqual([]);
});

test("a job is on one product, and the one with room comes first", () => {
  const nodes = [free("a", 4), free("b", 4, { product: "A100" }), free("c", 8, { product: "L4" })];
  expect(ask(nodes, {}).map(({ product, fits }) => `${product} ${fits}`)).toEqual([
    "L4 4",
    "A100 2",
    "H100 2",
  ]);
  expect(ask(nodes, { product: "A100" }).map(({ product }) => product)).toEqual(["A100"]);
});

test("the soonest end of jobs that makes room is told with those jobs", () => {
  const nodes = [free("late", 0), free("soon", 4), free("middle", 4)];
  const etas = {
    "ml/trainingjobs/late": 900,
    "ml/trainingjobs/middle": 600,
    "ml/trainingjobs/soon": 300,
  };
  const [found] = ask(nodes, { workers: 2, gpus: 8 }, etas);
  expect(found?.fits).toBe(0);
  expect(found?.wait?.seconds).toBe(600);
  expect(found?.wait?.jobs.map((job) => job.name)).toEqual(["soon", "middle"]);
});

test("where too few say when they end nobody knows when", () => {
  const [found] = ask([free("a", 0), free("b", 0)], { workers: 2, gpus: 8 }, {
    "ml/trainingjobs/a": 10,
  });
  expect(found).not.toHaveProperty("wait");
});

test("what is held for nothing is told where it would be enough", () => {
  const idle = node("a", { holders: [holder("x", { count: 8, idle: true })] });
  expect(ask([idle], { workers: 4 })[0]?.fitsWithoutIdle).toBe(true);
  expect(ask([idle], { workers: 5 })[0]?.fitsWithoutIdle).toBe(false);
});

test("a worker that is larger than any node never fits", () => {
  expect(ask([free("a", 8)], { gpus: 16 })[0]).toMatchObject({ fits: 0, nodeSize: 8 });
});

test("a thousand nodes are searched at once", () => {
  const nodes = Array.from({ length: 1000 }, (_, i) => free(`n${i}`, i % 9));
  const begin = performance.now();
  expect(ask(nodes, { workers: 3000, gpus: 1 })[0]?.fits).toBe(3000);
  // It takes some 20 ms; a search in the square of the nodes took seconds.
  expect(performance.now() - begin).toBeLessThan(1000);
});
