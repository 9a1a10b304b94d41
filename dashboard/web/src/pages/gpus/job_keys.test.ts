import { expect, test } from "vitest";
import { gpuMap, holder, known, node } from "./fixture";
import { jobsOnMap } from "./job_keys";

// Symptom: the map's squares said `mlo` and `wgp`, and nobody guessed mnist-long; of nine GPUs
// asked for and three held the page said 3, the command line 9.
test("each job on the map has its name, what it holds and what it asks for", () => {
  const map = gpuMap(
    [
      node("a", { holders: [known("mnist-long", ["0", "1"]), holder("bert")] }),
      node("b", { holders: [holder("mnist-long", { pod: "mnist-long-worker-1" })] }),
    ],
    { pending: [holder("mnist-long", { count: 6 }), holder("waits-for-gpus", { count: 64 })] },
  );
  expect(jobsOnMap(map).map(({ name, held, asked }) => [name, held, asked])).toEqual([
    ["mnist-long", 3, 9],
    ["bert", 1, 1],
    ["waits-for-gpus", 0, 64],
  ]);
});

test("a pod of no job stands by its own name", () => {
  const pod = holder("notebook");
  delete pod.job;
  expect(jobsOnMap(gpuMap([node("a", { holders: [pod] })]))).toEqual([
    { group: "pod ml/notebook-worker-0", name: "notebook-worker-0", held: 1, asked: 1 },
  ]);
});
