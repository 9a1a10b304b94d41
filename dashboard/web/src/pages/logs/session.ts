// The logs of one job on this page, outside of React: lines, search, place, selection. The window
// on the lines draws what is there when `revision` changes, once a frame at most; what stands
// around it when `summary` does, a few times in a second.
//
//   const session = new LogSession({ api, job, random: Math.random, searcher: newSearcher() });
//   session.start(options);
//   useCell(session.revision);

import type { ApiClient } from "../../api/client";
import { Cell } from "../../api/cell";
import type { JobRef } from "../../api/paths";
import type { FeedOptions } from "./feed";
import { LogFeed } from "./feed";
import type { Line } from "./log_store";
import { LogStore } from "./log_store";
import { RowHeights } from "./row_heights";
import type { Rows } from "./rows";
import { allRows, matchingRows } from "./rows";
import type { Geometry } from "./scroll";
import { LogScroll } from "./scroll";
import { LogSearch } from "./search";
import type { Searcher } from "./searcher";

// A count that changes more often nobody can read.
const SUMMARY_MS = 150;

export interface Selection {
  from: number;
  to: number;
}

interface Options {
  api: ApiClient;
  job: JobRef;
  random: () => number;
  searcher: Searcher;
  maxLines?: number;
}

export class LogSession {
  readonly revision = new Cell(0);
  readonly summary = new Cell(0);
  readonly store: LogStore;
  readonly search: LogSearch;
  readonly feed: LogFeed;
  readonly scroll = new LogScroll();
  readonly heights = new RowHeights();
  /** The match, or the line of the selection, where one is. */
  current: number | undefined;
  #selection: Selection | undefined;
  #onlyMatches = false;
  #wrap = false;
  #viewport = 0;
  /** Lines from here on came while one looked at earlier ones. */
  #unreadFrom: number | undefined;
  #frame: number | undefined;
  #summaryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor({ api, job, random, searcher, maxLines }: Options) {
    this.store = new LogStore(maxLines);
    this.search = new LogSearch(this.store, searcher, this.#changed);
    this.feed = new LogFeed(api, job, this.store, this.#changed, random);
  }

  stop(): void {
    this.feed.stop();
    this.search.close();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    clearTimeout(this.#summaryTimer);
    this.#summaryTimer = undefined;
  }

  get rows(): Rows {
    const only = this.#onlyMatches && this.search.active;
    return only ? matchingRows(this.search) : allRows(this.store);
  }

  get geometry(): Geometry {
    const { heights, store } = this;
    return {
      rows: this.rows,
      height: (line) => heights.of(line, store),
      even: !this.#wrap,
      viewport: this.#viewport,
    };
  }

  get atEnd(): boolean {
    return this.scroll.place === undefined;
  }
  get unread(): number {
    const { liveFrom } = this.feed;
    if (this.#unreadFrom === undefined || liveFrom === undefined) return 0;
    return this.store.end - Math.max(this.#unreadFrom, liveFrom);
  }
  get selection(): Selection | undefined {
    return this.#selection;
  }
  get wrap(): boolean {
    return this.#wrap;
  }

  /** Of the window on the lines. */
  setSize(viewport: number, textWidth: number): void {
    const width = this.#wrap ? textWidth : Infinity;
    if (viewport === this.#viewport && width === this.heights.width) return;
    this.#viewport = viewport;
    this.heights.setWidth(width);
    this.redraw();
  }

  setWrap(wrap: boolean): void {
    if (wrap === this.#wrap) return;
    this.#wrap = wrap;
    this.redraw();
  }

  setOnlyMatches(only: boolean): void {
    if (only === this.#onlyMatches) return;
    this.#onlyMatches = only;
    if (this.current !== undefined) this.scroll.show(this.current, this.geometry);
    this.redraw();
  }

  /** What is there stays where it can. */
  start(options: FeedOptions): void {
    const all = options.tail === 0;
    if (!this.feed.start(options)) return;
    this.#restart();
    // Who wants all lines wants to see the first.
    if (all) this.toStart();
  }

  /** Other lines come: nothing of those before stays. */
  #restart(): void {
    this.search.restart();
    this.scroll.place = undefined;
    this.current = undefined;
    this.#selection = undefined;
    this.#unreadFrom = undefined;
    this.redraw();
  }

  toEnd(): void {
    this.scroll.place = undefined;
    this.#moved();
  }

  toStart(): void {
    this.scroll.place = { line: this.store.first, offset: 0 };
    this.#moved();
  }

  onScroll(top: number, drawnMost: number): void {
    const { atEnd } = this;
    if (!this.scroll.onScroll(top, this.geometry, drawnMost)) return;
    if (atEnd === this.atEnd) this.#drawNow();
    else this.#moved();
  }

  goTo(line: number): void {
    this.current = line;
    this.scroll.show(line, this.geometry);
    this.#moved();
  }

  /** Undefined: nothing matches. */
  goToMatch(direction: 1 | -1): number | undefined {
    const { place } = this.scroll;
    const from = this.current ?? place?.line ?? (direction > 0 ? -1 : this.store.end);
    const line = direction > 0 ? this.search.after(from) : this.search.before(from);
    if (line !== undefined) this.goTo(line);
    return line;
  }

  /** `extend`: from where the selection began. */
  select(line: number, extend: boolean): void {
    const from = extend ? (this.#selection?.from ?? this.current ?? line) : line;
    this.#selection = { from, to: line };
    this.current = line;
    this.#moved();
  }

  /** One line further up or down. */
  extend(step: 1 | -1): void {
    const { rows } = this;
    const from = this.#selection?.to ?? this.current;
    const shown = this.scroll.window(this.geometry);
    const row = from === undefined ? shown.from : rows.row(from) + step;
    if (row < 0 || row >= rows.length) return;
    this.select(rows.line(row), true);
    this.scroll.show(rows.line(row), this.geometry);
    this.#moved();
  }

  unselect(): void {
    this.#selection = undefined;
    this.#moved();
  }

  isSelected(line: number): boolean {
    if (!this.#selection) return false;
    const { from, to } = this.#selection;
    return (line >= from && line <= to) || (line >= to && line <= from);
  }

  /** The selected lines that show. */
  selected(): Line[] {
    const [from, to] = this.#selectedRows();
    const { rows } = this;
    const lines: Line[] = [];
    for (let row = from; row < to; row += 1) {
      const line = this.store.line(rows.line(row));
      if (line) lines.push(line);
    }
    return lines;
  }

  selectedCount(): number {
    const [from, to] = this.#selectedRows();
    return to - from;
  }

  #selectedRows(): [from: number, to: number] {
    if (!this.#selection) return [0, 0];
    const { rows } = this;
    const { from, to } = this.#selection;
    const low = rows.row(Math.min(from, to));
    return [low, Math.max(low, rows.row(Math.max(from, to) + 1))];
  }

  readonly redraw = (): void => {
    this.#changed();
  };

  #sumUp(): void {
    this.#summaryTimer ??= setTimeout(() => {
      this.#summaryTimer = undefined;
      this.summary.set(this.summary.get() + 1);
    }, SUMMARY_MS);
  }

  #moved(): void {
    if (this.atEnd) this.#unreadFrom = undefined;
    else this.#unreadFrom ??= this.store.end;
    this.#drawNow();
    this.summary.set(this.summary.get() + 1);
  }

  // A step of the scroll bar that shows a frame later looks as if it stuck.
  #drawNow(): void {
    this.revision.set(this.revision.get() + 1);
  }

  readonly #changed = (): void => {
    this.#sumUp();
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#keepPlace();
      this.search.look();
      this.revision.set(this.revision.get() + 1);
    });
  };

  // The line where one was may have had to go.
  #keepPlace(): void {
    const { first, end } = this.store;
    const { place } = this.scroll;
    if (place && place.line < first) this.scroll.place = { line: first, offset: 0 };
    if (this.#unreadFrom !== undefined && this.#unreadFrom < first) this.#unreadFrom = first;
    if (this.#unreadFrom !== undefined && this.#unreadFrom > end) this.#unreadFrom = end;
  }
}
