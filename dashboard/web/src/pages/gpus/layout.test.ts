import { expect, test } from "vitest";
import { cellsOf } from "./cells";
import { node } from "./fixture";
import { firstPlace, move, placeOf, rowsOf, sizesOf } from "./layout";
import { group } from "./view";

const of = (name: string, capacity: number, product = "H100") =>
  cellsOf(node(name, { capacity, allocatable: capacity, product }));

test("as many tiles beside one another as the width has room for", () => {
  const nodes = [of("a", 8), of("b", 8)];
  expect(sizesOf(336, nodes)).toEqual({ columns: 1, perLine: 8 });
  expect(sizesOf(1248, nodes)).toEqual({ columns: 3, perLine: 8 });
  expect(sizesOf(2528, nodes)).toEqual({ columns: 7, perLine: 8 });
  // Small nodes have small tiles, large ones more lines.
  expect(sizesOf(1248, [of("c", 1)])).toEqual({ columns: 7, perLine: 1 });
  expect(sizesOf(1248, [of("d", 16)]).perLine).toBe(8);
  expect(sizesOf(0, []).columns).toBe(1);
});

//  heading L4?  a: 8 squares, b: 4    rows of two tiles, eight squares in a line
//               c: 10 (two lines)
//               heading, d: 2
const nodes = [of("a", 8), of("b", 4), of("c", 10), of("d", 2, "L4")];
const sizes = { columns: 2, perLine: 8 };
const rows = rowsOf(group(nodes, "product"), sizes);

test("rows are headings and tiles, each of its own height", () => {
  expect(rows.map((row) => [row.kind, row.height])).toEqual([
    ["heading", 34],
    ["tiles", 90],
    ["tiles", 128],
    ["heading", 34],
    ["tiles", 90],
  ]);
  // One group needs no heading.
  expect(rowsOf(group(nodes, "none"), sizes).map((row) => row.kind)).toEqual(["tiles", "tiles"]);
});

function go(from: string, key: string, ctrl = false): string {
  const [name = "", index = "0"] = from.split(" ");
  const place = placeOf(rows, { node: name, index: Number(index) });
  const to = place && move(rows, place, { key, ctrl }, sizes);
  const row = to && rows[to.row];
  if (!to || row?.kind !== "tiles") return "nowhere";
  return `${row.nodes[to.tile]?.node.name} ${to.index}`;
}

test.each([
  ["a 0", "ArrowRight", "a 1"],
  ["a 7", "ArrowRight", "b 0"],
  ["b 3", "ArrowRight", "c 0"],
  ["c 9", "ArrowRight", "d 0"],
  ["d 1", "ArrowRight", "nowhere"],
  ["d 0", "ArrowLeft", "c 9"],
  ["b 0", "ArrowLeft", "a 7"],
  ["a 0", "ArrowLeft", "nowhere"],
  ["a 1", "ArrowDown", "c 1"],
  ["b 2", "ArrowDown", "c 2"],
  ["c 1", "ArrowDown", "c 9"],
  ["c 5", "ArrowDown", "c 9"],
  ["c 9", "ArrowDown", "d 1"],
  ["d 1", "ArrowDown", "nowhere"],
  ["d 1", "ArrowUp", "c 9"],
  ["c 9", "ArrowUp", "c 1"],
  ["c 5", "ArrowUp", "a 5"],
  ["a 5", "ArrowUp", "nowhere"],
  ["a 5", "PageDown", "c 5"],
  ["c 5", "PageUp", "a 5"],
  ["c 5", "Home", "c 0"],
  ["c 5", "End", "c 9"],
  ["c 5", "x", "nowhere"],
])("from %s %s goes to %s", (from, key, to) => {
  expect(go(from, key)).toBe(to);
});

test("with Ctrl to the first and to the last of all", () => {
  expect(go("c 5", "Home", true)).toBe("a 0");
  expect(go("c 5", "End", true)).toBe("d 1");
});

test("a node that is gone is nowhere, and one that has shrunk is at its end", () => {
  expect(placeOf(rows, { node: "x", index: 0 })).toBeUndefined();
  expect(placeOf(rows, { node: "d", index: 7 })?.index).toBe(1);
  expect(firstPlace(rows)).toEqual({ row: 1, tile: 0, index: 0 });
  expect(firstPlace([])).toBeUndefined();
});

test("of a node with a thousand squares no more are drawn than a screen has", () => {
  const [row] = rowsOf(group([of("z", 1000)], "none"), sizes);
  expect(row?.height).toBeLessThan(400);
});
