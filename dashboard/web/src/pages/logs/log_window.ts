// What the window on the lines does with the browser: its size, its scroll bar, the heights of
// lines that wrap, clicks and keys that select. React draws the lines; this stands beside it.
//
//   const window = new LogWindow(session, element);
//   window.drawn();      // After each drawing.
//   window.close();

import { copyLines } from "./copy";
import type { LogSession } from "./session";

// After this long without a step the scroll bar has come to rest.
const REST_MS = 150;

export class LogWindow {
  readonly #session: LogSession;
  readonly #element: HTMLElement;
  readonly #canvas: HTMLElement | undefined;
  readonly #observer: ResizeObserver;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #look = "";
  #gutter = 0;
  #widest = 0;
  /** Of which lines; others have another width. */
  #widestOf = -1;

  constructor(session: LogSession, element: HTMLElement) {
    this.#session = session;
    this.#element = element;
    const canvas = element.firstElementChild;
    this.#canvas = canvas instanceof HTMLElement ? canvas : undefined;
    this.#observer = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        if (target === element) this.#tellSize();
        else this.#keepWidth(contentRect.width);
      }
    });
    this.#observer.observe(element);
    if (this.#canvas) this.#observer.observe(this.#canvas);
    element.addEventListener("click", this.#onClick);
    element.addEventListener("keydown", this.#onKey);
  }

  close(): void {
    clearTimeout(this.#rest);
    this.#observer.disconnect();
    this.#element.removeEventListener("click", this.#onClick);
    this.#element.removeEventListener("keydown", this.#onKey);
  }

  drawn(): void {
    // Asking the browser for sizes costs as much as drawing: only where they may be others.
    const { replicas, length } = this.#session.store;
    const look = `${this.#session.wrap} ${replicas.length} ${length > 0}`;
    if (look !== this.#look) this.#tellSize();
    this.#look = look;
    if (this.#session.wrap) this.#measureHeights();
    clearTimeout(this.#rest);
    if (this.#session.scroll.mayWait(this.#session.geometry)) {
      this.#rest = setTimeout(() => this.#putScrollBar(), REST_MS);
    } else {
      this.#putScrollBar();
    }
  }

  /** Other columns. */
  restyled(): void {
    this.#look = "";
    this.#widest = 0;
    this.drawn();
  }

  #tellSize(): void {
    const element = this.#element;
    const gutter = element.querySelector(".logs-gutter");
    if (gutter) this.#gutter = gutter.getBoundingClientRect().width;
    const height = element.clientHeight || element.offsetHeight;
    this.#session.setSize(height, element.clientWidth - this.#gutter);
  }

  #putScrollBar(): void {
    const { scroll, geometry } = this.#session;
    const wanted = scroll.wanted(geometry);
    if (Math.abs(scroll.top - wanted) > 1) {
      this.#element.scrollTop = wanted;
      scroll.isAt(this.#element.scrollTop);
    } else {
      scroll.isAt(scroll.top);
    }
  }

  // The scroll bar below must not jump with each line that comes into sight.
  #keepWidth(width: number): void {
    if (!this.#canvas) return;
    const { first } = this.#session.store;
    if (this.#widestOf !== first) this.#widest = 0;
    this.#widestOf = first;
    this.#widest = this.#session.wrap ? 0 : Math.max(this.#widest, width);
    this.#canvas.style.minWidth = this.#widest > 0 ? `${this.#widest}px` : "";
  }

  #measureHeights(): void {
    let changed = false;
    for (const row of this.#element.querySelectorAll<HTMLElement>(".logs-row")) {
      const { height } = row.getBoundingClientRect();
      if (height === 0) continue;
      const line = Number(row.dataset.line);
      const by = this.#session.heights.measure(line, height, this.#session.store);
      if (Math.abs(by) < 1) continue;
      this.#session.scroll.correct(line, by);
      changed = true;
    }
    if (changed) this.#session.redraw();
  }

  // Beside a line: selects it, with Shift up to there.
  readonly #onClick = (event: MouseEvent): void => {
    const target = event.target instanceof Element ? event.target : null;
    const row = target?.closest(".logs-gutter")?.closest<HTMLElement>(".logs-row");
    if (row) this.#session.select(Number(row.dataset.line), event.shiftKey);
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const session = this.#session;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && event.shiftKey) session.extend(step);
    else if (event.key === "Escape" && session.selection) session.unselect();
    else if (isCopy(event) && session.selection) void copyLines(session);
    else return;
    event.preventDefault();
  };
}

/** A text that is selected in the browser is the browser's to copy. */
function isCopy(event: KeyboardEvent): boolean {
  const keys = event.key === "c" && (event.ctrlKey || event.metaKey);
  return keys && (window.getSelection()?.isCollapsed ?? true);
}
