import { expect, test } from "vitest";
import { tfConfig } from "../job_fixture";
import { compareTold, isSame, readTfConfig } from "./tf_config";

const CLUSTER = { chief: ["c:1"], ps: ["p0:1"], worker: ["w0:1", "w1:1"] };

function told(cluster: unknown, type = "worker", index = 0) {
  return readTfConfig([{ name: "TF_CONFIG", value: tfConfig(cluster, type, index) }])!;
}

test("TF_CONFIG in the pod is read into addresses by replica", () => {
  const { list, cluster, task, environment, sparse } = told(CLUSTER, "worker", 1);
  expect(list).toBe("inline");
  expect(Object.fromEntries(cluster)).toEqual({
    "chief-0": "c:1",
    "ps-0": "p0:1",
    "worker-0": "w0:1",
    "worker-1": "w1:1",
  });
  expect([task, environment, sparse]).toEqual([{ type: "worker", index: 1 }, "cloud", false]);
});

test("the list of a large job is in the ConfigMap that the environment refers to", () => {
  const read = readTfConfig([
    {
      name: "TAAS_CLUSTER",
      from: { kind: "configMap", name: "big-cluster-1a2b", key: "cluster" },
    },
    { name: "TF_CONFIG", value: '{"cluster":$(TAAS_CLUSTER),"task":{"type":"ps","index":3}}' },
  ]);
  expect(read).toMatchObject({
    list: "configMap",
    configMap: "big-cluster-1a2b",
    task: { type: "ps", index: 3 },
  });
});

test("what is no TF_CONFIG of ours is kept as text", () => {
  for (const value of ["", "nonsense", "[]", "null", '{"cluster":3}', '{"cluster":$(OTHER)}']) {
    expect(readTfConfig([{ name: "TF_CONFIG", value }])).toMatchObject({
      raw: value,
      list: "unreadable",
    });
  }
  expect(readTfConfig([{ name: "PATH", value: "" }])).toBeUndefined();
});

test("replicas that were told the same are the same, whatever their own task", () => {
  expect(isSame(compareTold(told(CLUSTER), told(CLUSTER, "ps")))).toBe(true);
});

test("another address and a list of another size are differences", () => {
  const other = { ...CLUSTER, ps: ["p0:9"], worker: ["w0:1", "w1:1", "w2:1"], chief: [] };
  expect(compareTold(told(CLUSTER), told(other))).toEqual({
    moved: [{ name: "ps-0", mine: "p0:1", theirs: "p0:9" }],
    onlyMine: ["chief-0"],
    onlyTheirs: ["worker-2"],
  });
});

test("that an evaluator alone sees itself is no difference", () => {
  const evaluator = told({ ...CLUSTER, evaluator: ["e:1"] }, "evaluator");
  expect(isSame(compareTold(evaluator, told(CLUSTER)))).toBe(true);
  expect(isSame(compareTold(told(CLUSTER), evaluator))).toBe(true);
});

test("with enableDynamicWorker few are told of few, and only addresses count", () => {
  const one = told({ worker: { 0: "w0:1" }, ps: ["p0:1"] });
  const two = told({ worker: { 1: "w1:1" }, ps: ["p0:1"] }, "worker", 1);
  expect(one.sparse).toBe(true);
  expect(isSame(compareTold(one, two))).toBe(true);
  const moved = told({ worker: { 1: "w1:1" }, ps: ["p0:9"] }, "worker", 1);
  expect(compareTold(one, moved).moved).toHaveLength(1);
});

test("two ConfigMaps are two lists", () => {
  const of = (name: string) =>
    readTfConfig([
      { name: "TAAS_CLUSTER", from: { kind: "configMap", name, key: "cluster" } },
      { name: "TF_CONFIG", value: '{"cluster":$(TAAS_CLUSTER)}' },
    ])!;
  expect(isSame(compareTold(of("a"), of("a")))).toBe(true);
  expect(compareTold(of("a"), of("b")).otherList).toEqual({ mine: "a", theirs: "b" });
});
