import { expect, test } from "vitest";
import type { Queue } from "../../api/types";
import { allWaiting, notListed, queueKey, waitingOf } from "./entries";
import { entry, queue } from "./fixture";

const A = entry("a", 2);
const B = entry("b", 1, { namespace: "vision", queue: "eyes" });
const RESERVED = entry("r", 0, { state: "reserved" });
const OFF = entry("off", 0, { state: "inactive" });

const QUEUES: Queue[] = [
  queue("research", { waiting: 6, hidden: 1, pending: [RESERVED, B, A, OFF] }),
  queue("team", { namespace: "ml", clusterQueue: "research", waiting: 3, pending: [A, OFF] }),
  queue("", { inOrder: true, waiting: 2, pending: [entry("loose", 1, { queue: "" })] }),
];

const names = (queues: readonly Queue[], namespace = ""): string =>
  waitingOf(queues, namespace)
    .map(({ entry: one, line }) => `${line}/${one.workload}`)
    .join(" ");

test("what stands in two queues shows once, line by line in order of place", () => {
  expect(names(QUEUES)).toBe("/loose research/r research/b research/a research/off");
});

test("a local queue alone knows its line and the places in it", () => {
  expect(names(QUEUES.slice(1, 2))).toBe("research/a research/off");
});

test("a namespace shows its own", () => {
  expect(names(QUEUES, "vision")).toBe("research/b");
});

test("jobs of one name in two kinds are two", () => {
  const one = entry("a", 1);
  const other = { ...entry("a", 2), job: { kind: "TFJob" as const, namespace: "ml", name: "a" } };
  delete one.workload;
  delete other.workload;
  expect(waitingOf([queue("", { inOrder: true, pending: [one, other] })], "")).toHaveLength(2);
});

test("nobody is counted twice", () => {
  expect(allWaiting(QUEUES)).toBe(8);
  expect(allWaiting(QUEUES.slice(1))).toBe(5);
  // Of the first line one, of the other one.
  expect(notListed(QUEUES)).toBe(2);
});

test("each queue has a name of its own in the URL", () => {
  const same = [queue("a", {}), queue("a", { namespace: "ml" }), queue("", { inOrder: true })];
  expect(new Set(same.map(queueKey)).size).toBe(3);
});
