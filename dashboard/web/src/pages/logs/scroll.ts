// Where one is in a list of a million rows, and how that and a scroll bar go together.
//
// The place is a line and an offset within it, or the end; never a number of pixels from the top,
// since nobody knows how high a million wrapped lines are, and no browser makes an element so high.
// The scroll bar's own element is at most MAX_HEIGHT. Where that and the rows agree (all of one
// height and not too many) its position is the place. Elsewhere a small step moves the place by as
// many pixels, a large one (the thumb is dragged) to the same fraction of the rows, and when it has
// come to rest the scroll bar is put where it belongs.

import type { Rows } from "./rows";

export const ROW_HEIGHT = 17;
// Browsers end between 11 (three device pixels to one of CSS) and 33 million.
export const MAX_HEIGHT = 10_000_000;

export interface Place {
  /** The uppermost line that shows. */
  line: number;
  /** Its pixels that are above the edge. */
  offset: number;
}

export interface Geometry {
  rows: Rows;
  /** Of one line, known or estimated. */
  height: (line: number) => number;
  /** All rows are ROW_HEIGHT high. */
  even: boolean;
  /** Of the window on the rows. */
  viewport: number;
}

export class LogScroll {
  /** undefined: at the end, and staying there when lines are added. */
  place: Place | undefined = undefined;
  #top = 0;
  #moving = false;

  /** Where the scroll bar is, as far as we know. */
  get top(): number {
    return this.#top;
  }

  total({ rows, viewport }: Geometry): number {
    return Math.max(viewport, Math.min(rows.length * ROW_HEIGHT, MAX_HEIGHT));
  }

  /** The scroll bar's position for the place. */
  wanted(geometry: Geometry): number {
    const { rows, height, viewport } = geometry;
    const most = this.total(geometry) - viewport;
    if (!this.place || this.#reachesEnd(geometry)) return most;
    const { line, offset } = this.place;
    const row = rows.row(line);
    if (exact(geometry)) return Math.min(most, row * ROW_HEIGHT + offset);
    const last = this.#lastRow(geometry);
    const position = row + Math.min(1, offset / height(line));
    return last <= 0 ? 0 : Math.min(most - 1, (position / last) * most);
  }

  /** The scroll bar is being moved, and what it means is clear until it comes to rest. */
  mayWait(geometry: Geometry): boolean {
    if (exact(geometry) || this.place === undefined || !this.#moving) return false;
    const top = this.#top;
    const atEdge = top <= 0 || top >= this.total(geometry) - geometry.viewport - 1;
    return !atEdge;
  }

  /** The scroll bar was put there by us. */
  isAt(top: number): void {
    this.#top = top;
    this.#moving = false;
  }

  /**
   * The user has moved the scroll bar, or the browser has, because the window became higher; false:
   * it was us. `drawnMost`: how far down it goes as drawn, while the rows may be more by now.
   */
  onScroll(top: number, geometry: Geometry, drawnMost = Infinity): boolean {
    const step = top - this.#top;
    this.#top = top;
    if (Math.abs(step) < 1) return false;
    this.#moving = true;
    const { rows, viewport } = geometry;
    const most = this.total(geometry) - viewport;
    // Up, the browser moves it without anybody's wish: whoever was above the end stays there.
    const drawn = step > 0 || this.place === undefined ? drawnMost : most;
    const atBottom = top >= Math.min(most, drawn) - 1;
    if (atBottom && this.place === undefined) return true;
    if (exact(geometry)) {
      const row = Math.floor(top / ROW_HEIGHT);
      this.place = atBottom ? undefined : { line: rows.line(row), offset: top - row * ROW_HEIGHT };
    } else if (Math.abs(step) < 2 * viewport) {
      this.moveBy(step, geometry);
    } else if (atBottom) {
      this.place = undefined;
    } else {
      const position = (top / most) * this.#lastRow(geometry);
      const row = Math.floor(position);
      const line = rows.line(row);
      this.place = { line, offset: (position - row) * geometry.height(line) };
    }
    return true;
  }

  moveBy(pixels: number, geometry: Geometry): void {
    const { rows, height } = geometry;
    const from = this.place ?? this.#endPlace(geometry);
    let row = rows.row(from.line);
    let offset = from.offset + pixels;
    while (offset < 0 && row > 0) {
      row -= 1;
      offset += height(rows.line(row));
    }
    while (row < rows.length - 1 && offset >= height(rows.line(row))) {
      offset -= height(rows.line(row));
      row += 1;
    }
    this.place = { line: rows.line(row), offset: Math.max(0, offset) };
    if (this.#reachesEnd(geometry)) this.place = undefined;
  }

  /** A measured height differs from its estimate: what is below it stays where it is. */
  correct(line: number, by: number): void {
    if (this.place?.line === line && this.place.offset > 0) {
      this.place = { line, offset: Math.max(0, this.place.offset + by) };
    }
  }

  /** Shows the line, a third from the top; stays where it shows already. */
  show(line: number, geometry: Geometry): void {
    if (this.#shows(line, geometry)) return;
    this.place = { line, offset: 0 };
    this.moveBy(-Math.floor(geometry.viewport / 3), geometry);
  }

  /** The rows to draw, and where the first begins. */
  window(geometry: Geometry): { from: number; to: number; top: number } {
    const { rows, viewport } = geometry;
    // No row is lower than ROW_HEIGHT.
    const count = Math.ceil(viewport / ROW_HEIGHT) + 1;
    // Below a place that other rows had, as those of another search, there may be nothing.
    const end = this.#reachesEnd(geometry);
    const place = end || !this.place ? this.#endPlace(geometry) : this.place;
    const from = Math.min(rows.row(place.line), Math.max(0, rows.length - 1));
    return { from, to: Math.min(rows.length, from + count), top: -place.offset };
  }

  #shows(line: number, geometry: Geometry): boolean {
    const { rows, height, viewport } = geometry;
    const { from, to, top } = this.window(geometry);
    const row = rows.row(line);
    if (row < from || row >= to) return false;
    let y = top;
    for (let each = from; each < row; each += 1) y += height(rows.line(each));
    return y >= 0 && y + height(line) <= viewport;
  }

  #endPlace({ rows, height, viewport }: Geometry): Place {
    let row = rows.length;
    let above = viewport;
    while (row > 0 && above > 0) {
      row -= 1;
      above -= height(rows.line(row));
    }
    return { line: rows.length === 0 ? 0 : rows.line(row), offset: Math.max(0, -above) };
  }

  /** The row that is uppermost at the end, with its fraction. */
  #lastRow(geometry: Geometry): number {
    const { line, offset } = this.#endPlace(geometry);
    return geometry.rows.row(line) + offset / geometry.height(line);
  }

  #reachesEnd(geometry: Geometry): boolean {
    if (!this.place) return true;
    const end = this.#endPlace(geometry);
    const { line, offset } = this.place;
    if (geometry.rows.row(line) !== geometry.rows.row(end.line)) return line > end.line;
    return offset >= end.offset;
  }
}

function exact({ rows, even }: Geometry): boolean {
  return even && rows.length * ROW_HEIGHT <= MAX_HEIGHT;
}
