import { expect, test } from "vitest";
import type { GpuMap } from "../../api/types";
import { jobOf } from "./job_fixture";
import { tooFew, wantedByOne } from "./NeverFits";

const node = (capacity: number): GpuMap["nodes"][number] => ({
  ...{ name: `n${capacity}`, ready: true, schedulable: true, product: "", simulated: false },
  ...{ capacity, allocatable: capacity, hidden: 0, holders: [], devices: [] },
});
const map = (...nodes: GpuMap["nodes"]): GpuMap => ({
  ...{ resource: "nvidia.com/gpu", nodesVisible: true, pending: [] },
  nodes,
});

// Symptom: a job of 64 GPUs on nodes of 4 was told to look which GPUs are free. It can never run.
test("a replica that is larger than any node never fits", () => {
  expect(tooFew(map(node(4), node(2)), 64)).toBe(4);
  expect(tooFew(map(node(4), node(8)), 8)).toBeUndefined();
});

test("nothing is said where the nodes are not known", () => {
  expect(tooFew(undefined, 64)).toBeUndefined();
  expect(tooFew(map(), 64)).toBeUndefined();
  expect(tooFew({ ...map(node(4)), nodesVisible: false }, 64)).toBeUndefined();
});

test("what one replica waits for counts, and not what runs", () => {
  const [first] = jobOf().replicas;
  const replicas = [
    { ...first!, state: "Pending" as const, gpus: 2 },
    { ...first!, state: "Running" as const, gpus: 8 },
    { ...first!, state: "Pending" as const },
  ];
  expect(wantedByOne({ replicas })).toBe(2);
  expect(wantedByOne({ replicas: [] })).toBe(0);
});
