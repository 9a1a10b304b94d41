import { expect, test } from "vitest";
import { jobOf, replica } from "./job_fixture";
import { messageParts, worstReplica } from "./names";

const texts = (message: string) =>
  messageParts(message, jobOf()).map(({ text, replica: of }) => [text, of?.pod]);

test("a message is cut where it names a replica of the job", () => {
  expect(texts("worker-1 (and 1 more) cannot start: ErrImagePull")).toEqual([
    ["worker-1", "bert-worker-1"],
    [" (and 1 more) cannot start: ErrImagePull", undefined],
  ]);
});

test("the name of a pod stands for its replica, and a full stop ends a name", () => {
  expect(texts("delete the pod bert-worker-2.")).toEqual([
    ["delete the pod ", undefined],
    ["bert-worker-2", "bert-worker-2"],
    [".", undefined],
  ]);
});

test("other names that end like a replica's are left alone", () => {
  const message = "other-worker-1 and worker-17 and worker-1.other.svc are of somebody else";
  expect(texts(message)).toEqual([[message, undefined]]);
});

test("all of the text stays, also of one that nobody would write", () => {
  const message = `${"-".repeat(5000)}worker-0${"a-".repeat(5000)} worker-0`;
  expect(texts(message).map(([text]) => text).join("")).toBe(message);
  expect(texts("")).toEqual([]);
});

test("the worst replica is the first critical one, else the first with a warning", () => {
  const warning = replica("ps", 0, { health: "warning" });
  const critical = replica("worker", 1, { health: "critical" });
  expect(worstReplica([replica("chief", 0), warning, critical])).toBe(critical);
  expect(worstReplica([replica("chief", 0), warning])).toBe(warning);
  expect(worstReplica([replica("chief", 0)])).toBeUndefined();
});
