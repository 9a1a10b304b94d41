// Stands for uPlot in all tests (vite.config.ts), where there is no canvas: it only notes what it
// is given.

import type uPlot from "uplot";

export class FakePlot {
  static readonly made: FakePlot[] = [];
  readonly over = document.createElement("div");
  readonly cursor: { idx: number | null } = { idx: null };
  readonly select = { left: 0, width: 0 };
  readonly options: uPlot.Options;
  data: uPlot.AlignedData;
  destroyed = false;

  constructor(options: uPlot.Options, data: uPlot.AlignedData) {
    this.options = options;
    this.data = data;
    FakePlot.made.push(this);
  }

  setData(data: uPlot.AlignedData): void {
    this.data = data;
  }

  setSize(): void {}

  setSelect(): void {}

  valToPos(value: number): number {
    return value;
  }

  posToVal(left: number): number {
    return left;
  }

  setCursor({ left }: { left: number }): void {
    this.cursor.idx = [...(this.data[0] ?? [])].indexOf(left);
    this.options.hooks?.setCursor?.[0]?.(this as unknown as uPlot);
  }

  /** As a drag of the mouse. */
  drag(left: number, width: number): void {
    Object.assign(this.select, { left, width });
    this.options.hooks?.setSelect?.[0]?.(this as unknown as uPlot);
  }

  /** The part of the x axis that shows. */
  span(): unknown {
    const range = this.options.scales?.x?.range;
    return typeof range === "function" ? range(this as unknown as uPlot, 0, 0, "x") : range;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

export default FakePlot;
