import { expect, test } from "vitest";
import { briefOf, headlineOf, isSaidIn } from "./headline";

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

// Symptom: in the list of jobs the cause of a failure was cut, and a note on images stood whole.
test("in one line of a table the cause is the end", () => {
  const note = '(image "a:1" is not pulled: the command of container b runs with the programs)';
  expect(briefOf(`w-0 failed: exit code 1: no such file (after: a | b) ${note}`)).toBe(
    "w-0 failed: exit code 1: no such file",
  );
  expect(briefOf("worker-0 is starting")).toBe("worker-0 is starting");
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
