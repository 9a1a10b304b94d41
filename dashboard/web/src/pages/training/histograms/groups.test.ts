import { expect, test } from "vitest";
import { tagOf } from "./fixture";
import { groupsOf, runsOf, variableOf } from "./groups";

const named = (tags: string[]) =>
  groupsOf(tags.map((tag) => tagOf(tag))).map(({ layer, tags: of }) => [
    layer,
    ...of.map(({ tag }) => tag),
  ]);

test("what is of a layer stands together, a gradient beside its variable", () => {
  const tags = [
    ...["gradients/hidden1/biases", "gradients/hidden1/weights", "hidden10/weights"],
    ...["hidden1/biases", "hidden1/weights", "hidden2/weights"],
  ];
  expect(named(tags)).toEqual([
    [
      "hidden1",
      ...["hidden1/biases", "gradients/hidden1/biases"],
      ...["hidden1/weights", "gradients/hidden1/weights"],
    ],
    ["hidden2", "hidden2/weights"],
    ["hidden10", "hidden10/weights"],
  ]);
});

test("other ways to name a gradient, and slots of optimizers, are with their variable", () => {
  expect(named(["w/gradient", "w", "a/w/Adam", "a/w"])).toEqual([
    ["a", "a/w", "a/w/Adam"],
    ["", "w", "w/gradient"],
  ]);
  expect(variableOf("gradients/w", new Set())).toBe("w");
});

test("the top is the first of the runs", () => {
  const tags = ["eval", "checkpoints", ".", "eval"].map((run) => tagOf("w", { run }));
  expect(runsOf(tags)).toEqual([".", "checkpoints", "eval"]);
});
