import { expect, test } from "vitest";
import { jobOf } from "../job_fixture";
import { leastWorkers, scaleProblem } from "./scale";

const alone = { roles: jobOf().roles.filter(({ role }) => role === "worker") };

test("whole numbers up to the schema's bound are taken, and not the present one", () => {
  const job = jobOf();
  expect(scaleProblem("5", job)).toBeUndefined();
  expect(scaleProblem(" 0 ", job)).toBeUndefined();
  expect(scaleProblem("10000", job)).toBeUndefined();
  expect(scaleProblem("10001", job)).toBe("range");
  expect(scaleProblem("3", job)).toBe("same");
  for (const text of ["", "-1", "2.5", "1e2", "x", "９"]) {
    expect([text, scaleProblem(text, job)]).toEqual([text, "number"]);
  }
});

test("without a chief the last worker stays", () => {
  expect(leastWorkers(jobOf())).toBe(0);
  expect(leastWorkers(alone)).toBe(1);
  expect(scaleProblem("0", alone)).toBe("range");
});
