import { expect, test } from "vitest";
import { headlineOf, isSaidIn } from "./headline";

// Symptom: the log's last lines ran together in the headline, the exception in the middle.
test("what stood before the error is lines of its own", () => {
  expect(headlineOf("w-0 failed: exit code 1: Error: x (after: Traceback (most) | a)")).toEqual({
    sentence: "w-0 failed: exit code 1: Error: x",
    before: ["Traceback (most)", "a"],
  });
  expect(headlineOf("w failed: e (after: a) (image b); the job goes on without it")).toEqual({
    sentence: "w failed: e (image b); the job goes on without it",
    before: ["a"],
  });
});

test("what has another form stays whole", () => {
  for (const text of ["", "worker-0 is starting", "e (after: a"]) {
    expect(headlineOf(text)).toEqual({ sentence: text, before: [] });
  }
  expect(headlineOf("e (after: a :-( | b)")).toEqual({ sentence: "e", before: ["a :-(", "b"] });
});

test("a sentence is said once, a short one may be again", () => {
  const headline = "worker-0 failed for good: exit code 1: ValueError: bad shape of the input";
  expect(isSaidIn(headline, headline)).toBe(true);
  expect(isSaidIn(headline, "exit code 1: ValueError: bad shape of the input")).toBe(true);
  expect(isSaidIn(headline, "exit code 1")).toBe(false);
  expect(isSaidIn(headline, "worker-0 is starting")).toBe(false);
  expect(isSaidIn("", "")).toBe(false);
});
