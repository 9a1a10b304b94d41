// The keyboard in the table: one stop of the tab key, arrows from row to row, Space selects, Enter
// opens.

import type { KeyboardEvent } from "react";
import type { JobRow } from "../../api/types";

export interface GridKeys {
  rows: readonly JobRow[];
  /** Of the row that the keyboard is on. */
  at: number;
  /** Rows of one screen. */
  page: number;
  goTo: (index: number) => void;
  toggle: (row: JobRow) => void;
  open: (row: JobRow) => void;
}

function target(key: string, grid: GridKeys): number | undefined {
  switch (key) {
    case "ArrowDown":
      return grid.at + 1;
    case "ArrowUp":
      return grid.at - 1;
    case "PageDown":
      return grid.at + grid.page;
    case "PageUp":
      return grid.at - grid.page;
    case "Home":
      return 0;
    case "End":
      return grid.rows.length - 1;
    default:
      return undefined;
  }
}

export function onGridKey(event: KeyboardEvent<HTMLElement>, grid: GridKeys): void {
  if (event.altKey || event.ctrlKey || event.metaKey || grid.rows.length === 0) return;
  const to = target(event.key, grid);
  if (to !== undefined) {
    event.preventDefault();
    grid.goTo(Math.min(grid.rows.length - 1, Math.max(0, to)));
    return;
  }
  // On a link or a checkbox these keys are theirs.
  const onRow = (event.target as HTMLElement).getAttribute("role") === "row";
  const row = grid.rows[grid.at];
  if (!onRow || !row) return;
  if (event.key === " ") {
    event.preventDefault();
    grid.toggle(row);
  } else if (event.key === "Enter") {
    grid.open(row);
  }
}
