import { expect, test } from "vitest";
import { lettersOf, styleOf } from "./job_style";

test("a job looks the same each time, and jobs of a series look different", () => {
  expect(styleOf("ml/trainingjobs/a")).toEqual(styleOf("ml/trainingjobs/a"));
  const looks = new Set<string>();
  for (let i = 0; i < 20; i += 1) looks.add(JSON.stringify(styleOf(`ml/trainingjobs/sweep-${i}`)));
  // Of 32 looks.
  expect(looks.size).toBeGreaterThan(12);
});

test("no hue is one that means trouble", () => {
  for (let i = 0; i < 500; i += 1) {
    const { hue } = styleOf(`job-${i}`);
    expect(hue).toBeGreaterThanOrEqual(60);
    expect(hue).toBeLessThanOrEqual(320);
  }
});

test.each([
  ["mnist", "mni"],
  ["resnet-sweep-00012", "r12"],
  ["bert-large", "bla"],
  ["a", "a"],
  ["", ""],
  ["---", ""],
  ["训练-任务", "训任务"],
  ["x".repeat(10_000), "xxx"],
])("letters of %s", (name, want) => {
  expect(lettersOf(name)).toBe(want);
});
