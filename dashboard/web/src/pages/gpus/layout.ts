// Where tiles are: rows of tiles of one height, headings of groups between them; and how the arrow
// keys move over them. All heights are known, so thousands of nodes need no measuring.

import type { Cell, NodeCells } from "./cells";
import type { Group } from "./view";

/** Squares of a node that are drawn; the tile says how many more there are. */
export const DRAWN_MAX = 64;
const PER_LINE_MAX = 8;

// As in map.css, in px.
export const CELL = 34;
export const GAP = 4;
const TILE_EXTRA = 22; // Padding and border.
const TILE_HEAD = 26;
export const TILE_GAP = 8;
export const HEADING = 34;
// A node's name needs so much even where it has one GPU.
const TILE_LEAST = 150;

export interface Sizes {
  columns: number;
  perLine: number;
}

export function sizesOf(width: number, nodes: readonly NodeCells[]): Sizes {
  const most = nodes.reduce((max, one) => Math.max(max, one.cells.length), 1);
  const perLine = Math.min(PER_LINE_MAX, most);
  const least = Math.max(TILE_LEAST, perLine * (CELL + GAP) - GAP + TILE_EXTRA);
  return { columns: Math.max(1, Math.floor((width + TILE_GAP) / (least + TILE_GAP))), perLine };
}

export type Row =
  | { kind: "heading"; group: Group; key: string; height: number }
  | { kind: "tiles"; nodes: NodeCells[]; key: string; height: number };

export function rowsOf(groups: readonly Group[], { columns, perLine }: Sizes): Row[] {
  const rows: Row[] = [];
  for (const group of groups) {
    if (groups.length > 1) {
      rows.push({ kind: "heading", group, key: `group ${group.name}`, height: HEADING });
    }
    for (let i = 0; i < group.nodes.length; i += columns) {
      const nodes = group.nodes.slice(i, i + columns);
      const lines = Math.max(...nodes.map((one) => Math.ceil(drawn(one) / perLine)));
      const height = TILE_HEAD + lines * (CELL + GAP) - GAP + TILE_EXTRA + TILE_GAP;
      rows.push({ kind: "tiles", nodes, key: nodes[0]?.node.name ?? "", height });
    }
  }
  return rows;
}

export function drawn(one: NodeCells): number {
  return Math.min(DRAWN_MAX, one.cells.length);
}

/** One square: its node by name, as nodes come and go. */
export interface Spot {
  node: string;
  index: number;
}

interface Place {
  row: number;
  tile: number;
  index: number;
}

export function placeOf(rows: readonly Row[], spot: Spot | undefined): Place | undefined {
  if (!spot) return undefined;
  for (const [at, row] of rows.entries()) {
    if (row.kind !== "tiles") continue;
    const tile = row.nodes.findIndex((one) => one.node.name === spot.node);
    const one = row.nodes[tile];
    if (one) return { row: at, tile, index: Math.min(spot.index, drawn(one) - 1) };
  }
  return undefined;
}

export function cellAt(rows: readonly Row[], place: Place | undefined): Cell | undefined {
  const row = place && rows[place.row];
  if (row?.kind !== "tiles") return undefined;
  return row.nodes[place?.tile ?? 0]?.cells[place?.index ?? 0];
}

export function firstPlace(rows: readonly Row[]): Place | undefined {
  const row = rows.findIndex((one) => one.kind === "tiles");
  return row < 0 ? undefined : { row, tile: 0, index: 0 };
}

/** The next row with tiles in that direction. */
function rowFrom(rows: readonly Row[], from: number, step: 1 | -1): number | undefined {
  for (let at = from; at >= 0 && at < rows.length; at += step) {
    if (rows[at]?.kind === "tiles") return at;
  }
  return undefined;
}

function tilesOf(rows: readonly Row[], row: number): NodeCells[] {
  const at = rows[row];
  return at?.kind === "tiles" ? at.nodes : [];
}

/** Where a key goes to; undefined: it is none of ours, or there is nothing there. */
export function move(
  rows: readonly Row[],
  from: Place,
  key: { key: string; ctrl: boolean },
  sizes: Sizes,
): Place | undefined {
  switch (key.key) {
    case "ArrowRight":
      return along(rows, from, 1);
    case "ArrowLeft":
      return along(rows, from, -1);
    case "ArrowDown":
      return across(rows, from, 1, sizes);
    case "ArrowUp":
      return across(rows, from, -1, sizes);
    case "PageDown":
      return jump(rows, from, 1);
    case "PageUp":
      return jump(rows, from, -1);
    case "Home":
      return key.ctrl ? firstPlace(rows) : { ...from, index: 0 };
    case "End":
      return key.ctrl ? lastPlace(rows) : { ...from, index: lastIndex(rows, from) };
    default:
      return undefined;
  }
}

function lastIndex(rows: readonly Row[], { row, tile }: Place): number {
  const one = tilesOf(rows, row)[tile];
  return one ? drawn(one) - 1 : 0;
}

function lastPlace(rows: readonly Row[]): Place | undefined {
  const row = rowFrom(rows, rows.length - 1, -1);
  if (row === undefined) return undefined;
  const place = { row, tile: tilesOf(rows, row).length - 1, index: 0 };
  return { ...place, index: lastIndex(rows, place) };
}

function along(rows: readonly Row[], from: Place, step: 1 | -1): Place | undefined {
  const index = from.index + step;
  if (index >= 0 && index <= lastIndex(rows, from)) return { ...from, index };
  const tile = from.tile + step;
  const end = (place: Place): Place => ({
    ...place,
    index: step > 0 ? 0 : lastIndex(rows, place),
  });
  if (tile >= 0 && tile < tilesOf(rows, from.row).length) return end({ ...from, tile });
  const row = rowFrom(rows, from.row + step, step);
  if (row === undefined) return undefined;
  return end({ row, tile: step > 0 ? 0 : tilesOf(rows, row).length - 1, index: 0 });
}

function across(
  rows: readonly Row[],
  from: Place,
  step: 1 | -1,
  { perLine }: Sizes,
): Place | undefined {
  const index = from.index + step * perLine;
  const last = lastIndex(rows, from);
  if (index >= 0 && index <= last) return { ...from, index };
  // A last line that is not full.
  const below = Math.floor(last / perLine) > Math.floor(from.index / perLine);
  if (step > 0 && below) return { ...from, index: last };
  const next = jump(rows, from, step);
  if (!next) return undefined;
  const column = from.index % perLine;
  const end = lastIndex(rows, next);
  const line = step > 0 ? 0 : Math.floor(end / perLine);
  return { ...next, index: Math.min(end, line * perLine + column) };
}

function jump(rows: readonly Row[], from: Place, step: 1 | -1): Place | undefined {
  const row = rowFrom(rows, from.row + step, step);
  if (row === undefined) return undefined;
  const place = { row, tile: Math.min(from.tile, tilesOf(rows, row).length - 1), index: 0 };
  return { ...place, index: Math.min(from.index, lastIndex(rows, place)) };
}
