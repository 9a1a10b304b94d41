import { describe, expect, test } from "vitest";
import type { JobRow } from "../../api/types";
import { row } from "../../testing/rows";
import type { ColumnKey } from "./columns";
import { comparator } from "./columns";

function order(column: ColumnKey, rows: JobRow[], descending = false): string[] {
  return rows.sort(comparator(column, descending)).map((one) => one.name);
}

describe("the order of rows", () => {
  test("puts what needs attention first", () => {
    const rows = [
      row("fine"),
      row("bad", { health: "critical" }),
      row("odd", { health: "warning" }),
    ];
    expect(order("health", rows)).toEqual(["bad", "odd", "fine"]);
    expect(order("health", rows, true)).toEqual(["fine", "odd", "bad"]);
  });

  test("is newest first among equals, in both directions", () => {
    const rows = [
      row("old", { created: "2026-03-01T10:00:00Z" }),
      row("new", { created: "2026-03-02T09:00:00Z" }),
    ];
    expect(order("health", rows)).toEqual(["new", "old"]);
    expect(order("health", rows, true)).toEqual(["new", "old"]);
  });

  test("takes numbers in names by their value", () => {
    const rows = ["train-10", "train-9", "eval-100", "train-9b"].map((name) => row(name));
    expect(order("name", rows)).toEqual(["eval-100", "train-9", "train-9b", "train-10"]);
  });

  test("begins with the most for counts, and with the newest for age", () => {
    const rows = [row("few", { gpus: 1 }), row("many", { gpus: 10 }), row("none", { gpus: 0 })];
    expect(order("gpus", rows)).toEqual(["many", "few", "none"]);
    const aged = [row("old"), row("new", { created: "2026-04-01T00:00:00Z" })];
    expect(order("age", aged)).toEqual(["new", "old"]);
    expect(order("age", aged, true)).toEqual(["old", "new"]);
  });

  test("is the same whatever order the rows came in", () => {
    const rows = Array.from({ length: 40 }, (_, i) => row(`job-${i}`, { restarts: i % 3 }));
    const expected = order("restarts", [...rows]);
    for (let turn = 0; turn < 5; turn++) {
      rows.push(...rows.splice(0, 7));
      expect(order("restarts", [...rows])).toEqual(expected);
    }
  });
});
