import { expect, test } from "vitest";
import { exitEffect, exitMeaning } from "./exit_code";

test("the codes of the contract have their meanings", () => {
  const meanings = [0, 1, 3, 130, 134, 137, 138, 139, 143, 150].map((code) =>
    exitMeaning(code, undefined, "TrainingJob"),
  );
  expect(meanings).toEqual([
    "done",
    "failed",
    "badNode",
    "interrupted",
    "abort",
    "killed",
    "restartMe",
    "segfault",
    "stopped",
    "signal",
  ]);
  expect(exitMeaning(137, "OOMKilled", "TrainingJob")).toBe("outOfMemory");
  expect(exitMeaning(128, "StartError", "TrainingJob")).toBe("notStarted");
  expect(exitMeaning(255, undefined, "TrainingJob")).toBe("failed");
});

test("a TFJob restarts from 128 on, a TrainingJob after signals that may be retried", () => {
  const effects = (kind: "TFJob" | "TrainingJob") =>
    [0, 1, 3, 134, 137, 138, 143].map((code) => exitEffect(code, undefined, kind));
  expect(effects("TrainingJob")).toEqual([
    "completed",
    "fails",
    "badNode",
    "fails",
    "restarts",
    "restarts",
    "restarts",
  ]);
  expect(effects("TFJob")).toEqual([
    "completed",
    "fails",
    "fails",
    "restarts",
    "restarts",
    "restarts",
    "restarts",
  ]);
  expect(exitMeaning(3, undefined, "TFJob")).toBe("failed");
});
