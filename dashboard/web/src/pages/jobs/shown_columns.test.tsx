import { beforeEach, expect, test } from "vitest";
import { act, renderHook } from "@testing-library/react";
import { row } from "../../testing/rows";
import { COLUMNS } from "./columns";
import { leastWidth, placesOf, shownColumns, useHiddenColumns } from "./shown_columns";

const full = row("a", {
  owner: "ada",
  queue: "q",
  progress: {
    step: 1,
    maxSteps: 2,
    percent: 50,
    examplesPerSecond: 1,
    loss: 0.5,
    accuracy: 0.9,
  },
});

beforeEach(() => localStorage.clear());

// Symptom: 300 px of empty columns stood beside a message that was cut.
test("a column that no job has a value for takes no room", () => {
  expect(shownColumns([full, row("b")], new Set())).toEqual(COLUMNS);
  const without = shownColumns([row("b")], new Set());
  expect(COLUMNS.filter((column) => !without.includes(column))).toEqual([
    "loss",
    "accuracy",
    "owner",
    "queue",
  ]);
  expect(shownColumns([full], new Set(["kind", "queue"] as const))).not.toContain("kind");
});

test("what is hidden stays hidden in this browser", () => {
  const { result } = renderHook(useHiddenColumns);
  act(() => result.current.setHidden(new Set(["kind"] as const)));
  expect([...renderHook(useHiddenColumns).result.current.hidden]).toEqual(["kind"]);
});

test("what is stored there may be anything", () => {
  for (const text of ["", "{}", "[1, null]", '["name", "health", "no such column"]', "[[]]"]) {
    localStorage.setItem("taas.jobs.hidden", text);
    expect(renderHook(useHiddenColumns).result.current.hidden.size).toBe(0);
  }
});

test("all columns fit on one line of a screen of 1,920 px, and each has a place", () => {
  // Beside the page's own room at both sides.
  expect(leastWidth(COLUMNS)).toBeLessThanOrEqual(1920 - 2 * 16 - 2);
  const { areas, widths } = placesOf(["health", "name", "kind"]);
  expect(areas).toBe('"select health name kind"');
  expect(widths).toBe("22px 90px minmax(180px, 1.5fr) 84px");
});
