// How the squares of the replicas are laid out in lines, and where the arrow keys lead. Pure.
//
//   const lines = gridLines(replicas, 40);
//   const next = moveFrom(at, "ArrowDown", lines, 5);

import type { Replica, Role } from "../../../api/types";

export interface GridLine {
  role: Role;
  /** The first line of a role has its name beside it. */
  first: boolean;
  /** Of the list of replicas: [from, to). */
  from: number;
  to: number;
}

/** Replicas of one role stand together already: the server sends them in order. */
export function gridLines(replicas: readonly Replica[], columns: number): GridLine[] {
  const lines: GridLine[] = [];
  const width = Math.max(1, columns);
  for (let at = 0; at < replicas.length; ) {
    const role = replicas[at]!.role;
    let to = at;
    while (to < replicas.length && to - at < width && replicas[to]!.role === role) to += 1;
    lines.push({ role, first: lines.at(-1)?.role !== role, from: at, to });
    at = to;
  }
  return lines;
}

export function lineOf(lines: readonly GridLine[], at: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at < lines[middle]!.to) high = middle;
    else low = middle + 1;
  }
  return low;
}

function clamp(value: number, last: number): number {
  return Math.min(Math.max(0, value), last);
}

function vertically(at: number, by: number, lines: readonly GridLine[]): number {
  const here = lineOf(lines, at);
  const column = at - lines[here]!.from;
  const line = lines[clamp(here + by, lines.length - 1)]!;
  return Math.min(line.from + column, line.to - 1);
}

/** undefined: the key moves nowhere. `page`: lines of one screen. */
export function moveFrom(
  at: number,
  key: string,
  lines: readonly GridLine[],
  page: number,
  control = false,
): number | undefined {
  const last = (lines.at(-1)?.to ?? 0) - 1;
  if (last < 0) return undefined;
  const line = lines[lineOf(lines, at)]!;
  switch (key) {
    case "ArrowRight":
      return clamp(at + 1, last);
    case "ArrowLeft":
      return clamp(at - 1, last);
    case "ArrowDown":
      return vertically(at, 1, lines);
    case "ArrowUp":
      return vertically(at, -1, lines);
    case "PageDown":
      return vertically(at, page, lines);
    case "PageUp":
      return vertically(at, -page, lines);
    case "Home":
      return control ? 0 : line.from;
    case "End":
      return control ? last : line.to - 1;
    default:
      return undefined;
  }
}
