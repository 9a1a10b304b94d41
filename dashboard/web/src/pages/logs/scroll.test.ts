import { expect, test } from "vitest";
import type { Rows } from "./rows";
import type { Geometry } from "./scroll";
import { LogScroll, MAX_HEIGHT, ROW_HEIGHT } from "./scroll";

const VIEWPORT = 510; // 30 rows.

function rowsOf(length: number, first = 0): Rows {
  return {
    length,
    line: (row) => first + row,
    row: (line) => Math.min(Math.max(0, line - first), length),
  };
}

function even(length: number): Geometry {
  return { rows: rowsOf(length), height: () => ROW_HEIGHT, even: true, viewport: VIEWPORT };
}

/** Rows of one to four lines. */
function uneven(length: number): Geometry {
  const height = (line: number): number => ROW_HEIGHT * (1 + (line * 7) % 4);
  return { rows: rowsOf(length), height, even: false, viewport: VIEWPORT };
}

test("at the end the last row is the last that shows, also when rows are added", () => {
  const scroll = new LogScroll();
  for (const length of [0, 5, 30, 31, 1_000]) {
    const { from, to } = scroll.window(even(length));
    expect(to).toBe(length);
    expect(from).toBe(Math.max(0, length - 30));
    expect(scroll.wanted(even(length))).toBe(Math.max(0, length * ROW_HEIGHT - VIEWPORT));
  }
});

test("where all rows fit the scroll bar's position is the place", () => {
  const scroll = new LogScroll();
  const geometry = even(1_000);
  scroll.isAt(scroll.wanted(geometry));
  for (const top of [0, 5, 17, 1_234, 9_999]) {
    scroll.onScroll(top, geometry);
    const window = scroll.window(geometry);
    expect(window.from * ROW_HEIGHT - window.top).toBe(top);
    expect(scroll.wanted(geometry)).toBe(top);
  }
  scroll.onScroll(1_000 * ROW_HEIGHT - VIEWPORT, geometry);
  expect(scroll.place).toBeUndefined();
});

// Symptom: after an outage, when its warning went and many lines came at once, the page no longer
// followed the log.
test("the end stays when the window becomes higher before new rows are drawn", () => {
  for (const geometryOf of [even, uneven, (length: number) => even(length + 1_000_000)]) {
    const scroll = new LogScroll();
    const drawn = geometryOf(100);
    scroll.isAt(scroll.wanted(drawn));
    const higher = { ...geometryOf(148), viewport: VIEWPORT + 34 };
    const most = scroll.total(drawn) - higher.viewport;
    scroll.onScroll(most, higher, most);
    expect(scroll.place).toBeUndefined();
    scroll.onScroll(most - 40, higher, most);
    expect(scroll.place).toBeDefined();
    scroll.isAt(most - 40);
    scroll.onScroll(most - 2, higher, most);
    expect(scroll.place).toBeDefined();
  }
});

test("whoever reads near the end stays there when the window becomes higher", () => {
  const scroll = new LogScroll();
  const drawn = even(100);
  scroll.onScroll(scroll.total(drawn) - VIEWPORT - 17, drawn);
  const higher = { ...even(148), viewport: VIEWPORT + 34 };
  const most = scroll.total(drawn) - higher.viewport;
  scroll.onScroll(most, higher, most);
  expect(scroll.place).toBeDefined();
});

test("the end of what is drawn is the end, though more rows have come", () => {
  const scroll = new LogScroll();
  scroll.onScroll(300, even(100));
  const most = scroll.total(even(100)) - VIEWPORT;
  scroll.onScroll(most, even(150), most);
  expect(scroll.place).toBeUndefined();
});

test("a million rows have a scroll bar of a height that browsers have", () => {
  const scroll = new LogScroll();
  const geometry = even(1_000_000);
  expect(scroll.total(geometry)).toBe(MAX_HEIGHT);
  const most = MAX_HEIGHT - VIEWPORT;
  scroll.isAt(most);
  scroll.onScroll(most / 2, geometry);
  expect(scroll.place?.line).toBeCloseTo(500_000, -3);
  scroll.onScroll(0, geometry);
  expect(scroll.place).toEqual({ line: 0, offset: 0 });
  scroll.onScroll(most, geometry);
  expect(scroll.place).toBeUndefined();
});

test("a step of the wheel moves by as many pixels, whatever the scroll bar stands for", () => {
  for (const geometry of [even(1_000_000), uneven(1_000)]) {
    const scroll = new LogScroll();
    scroll.place = { line: 500, offset: 3 };
    scroll.isAt(scroll.wanted(geometry));
    const yOf = (line: number): number => {
      const { from, top } = scroll.window(geometry);
      let y = top;
      for (let row = from; row < line; row += 1) y += geometry.height(row);
      for (let row = line; row < from; row += 1) y -= geometry.height(row);
      return y;
    };
    const before = yOf(505);
    scroll.onScroll(scroll.top + 120, geometry);
    expect(yOf(505)).toBe(before - 120);
    scroll.onScroll(scroll.top - 300, geometry);
    expect(yOf(505)).toBe(before + 180);
  }
});

test("steps down reach the end, steps up the beginning, and nothing is left out", () => {
  const geometry = uneven(400);
  const scroll = new LogScroll();
  scroll.place = { line: 0, offset: 0 };
  const seen = new Set<number>();
  for (let step = 0; step < 10_000 && scroll.place; step += 1) {
    const { from, to } = scroll.window(geometry);
    for (let row = from; row < to; row += 1) seen.add(row);
    scroll.moveBy(100, geometry);
  }
  expect(scroll.place).toBeUndefined();
  expect(seen.size).toBeGreaterThan(390);
  for (let step = 0; step < 10_000; step += 1) scroll.moveBy(-100, geometry);
  expect(scroll.place).toEqual({ line: 0, offset: 0 });
});

test("the scroll bar that came to an edge before the rows did is put back", () => {
  const geometry = uneven(100_000);
  const scroll = new LogScroll();
  scroll.place = { line: 50, offset: 0 };
  scroll.isAt(scroll.wanted(geometry));
  scroll.onScroll(Math.max(0, scroll.top - 200), geometry);
  scroll.onScroll(0, geometry);
  expect(scroll.place).not.toEqual({ line: 0, offset: 0 });
  expect(scroll.mayWait(geometry)).toBe(false);
  expect(scroll.wanted(geometry)).toBeGreaterThan(0);
});

test("what we put there ourselves is no step of the user", () => {
  const geometry = even(1_000);
  const scroll = new LogScroll();
  scroll.isAt(777);
  expect(scroll.onScroll(777, geometry)).toBe(false);
  expect(scroll.place).toBeUndefined();
});

test("a line is shown a third from the top, and stays where it shows already", () => {
  for (const geometry of [even(1_000), uneven(1_000)]) {
    const scroll = new LogScroll();
    scroll.show(400, geometry);
    const before = scroll.window(geometry);
    expect(before.from).toBeLessThan(400);
    expect(before.to).toBeGreaterThan(400);
    scroll.show(401, geometry);
    expect(scroll.window(geometry)).toEqual(before);
    scroll.show(999, geometry);
    expect(scroll.place).toBeUndefined();
  }
});

test("a height that turns out otherwise moves what is above it, not what one reads", () => {
  const scroll = new LogScroll();
  scroll.place = { line: 10, offset: 20 };
  scroll.correct(10, 17);
  expect(scroll.place).toEqual({ line: 10, offset: 37 });
  scroll.correct(11, 17);
  expect(scroll.place).toEqual({ line: 10, offset: 37 });
});

test("where other rows show now, nothing is left blank below them", () => {
  const scroll = new LogScroll();
  scroll.place = { line: 900, offset: 0 };
  const few = { ...even(40), rows: { length: 40, line: (row: number) => row * 24, row: rowOf } };
  function rowOf(line: number): number {
    return Math.min(40, Math.ceil(line / 24));
  }
  expect(scroll.window(few)).toMatchObject({ from: 10, to: 40 });
  expect(scroll.wanted(few)).toBe(40 * ROW_HEIGHT - VIEWPORT);
  expect(scroll.place).toEqual({ line: 900, offset: 0 });
});
