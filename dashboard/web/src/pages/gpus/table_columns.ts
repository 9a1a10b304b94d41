// The columns of the table of GPUs, in Arena's order: where it is, whose it is, how busy it is.

import type { GpuHolder } from "../../api/types";
import type { Cell } from "./cells";
import { sourceOf } from "./cells";

/** One line: a GPU, and one pod that claims it. */
export interface Line {
  key: string;
  cell: Cell;
  holder?: GpuHolder;
}

export const COLUMNS = [
  "node",
  "gpu",
  "product",
  "status",
  "job",
  "replica",
  "owner",
  "used",
  "memory",
  "health",
  "source",
  "since",
] as const;
export type Column = (typeof COLUMNS)[number];

export interface Sort {
  column: Column;
  descending: boolean;
}

export function linesOf(cells: readonly Cell[]): Line[] {
  return cells.flatMap((cell): Line[] => {
    const key = `${cell.node.name} ${cell.index}`;
    if (cell.holders.length === 0) return [{ key, cell }];
    return cell.holders.map((holder, at) => ({ key: `${key} ${at}`, cell, holder }));
  });
}

type Value = string | number | undefined;

/**
 * "worker-10" after "worker-9": texts that compare as such. A collator of thousands of lines, each
 * second, takes too long.
 */
function natural(value: Value): Value {
  return typeof value === "string"
    ? value.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, "0"))
    : value;
}

function valueOf({ cell, holder }: Line, column: Column): Value {
  switch (column) {
    case "node":
      return cell.node.name;
    case "gpu":
      return cell.device?.id;
    case "product":
      return cell.node.product;
    case "status":
      return `${cell.kind} ${holder?.idle === true ? "idle" : ""}`;
    case "job":
      return holder && (holder.job ? `${holder.job.namespace}/${holder.job.name}` : holder.pod);
    case "replica":
      return holder?.role && `${holder.role}-${holder.index ?? 0}`;
    case "owner":
      return holder?.owner;
    case "used":
      return cell.device?.utilization;
    case "memory":
      return cell.device?.memoryUsedMiB;
    case "health":
      return cell.device?.health;
    case "source":
      return holder && sourceOf(cell, holder);
    case "since":
      return holder?.since;
  }
}

/** What is not known comes last, whatever the direction. */
export function sorted(lines: readonly Line[], { column, descending }: Sort): Line[] {
  const keyed = lines.map((line, at) => ({ line, at, value: natural(valueOf(line, column)) }));
  const [less, more] = descending ? [1, -1] : [-1, 1];
  keyed.sort((a, b) => {
    if (a.value === b.value) return a.at - b.at;
    if (a.value === undefined) return 1;
    if (b.value === undefined) return -1;
    return a.value < b.value ? less : more;
  });
  return keyed.map(({ line }) => line);
}

export function readSort(search: URLSearchParams): Sort {
  const asked = search.get("sort") ?? "";
  const descending = asked.startsWith("-");
  const column = COLUMNS.find((one) => one === asked.replace(/^-/, ""));
  return { column: column ?? "node", descending: column !== undefined && descending };
}
