// How uPlot draws a chart. What changes with every update it asks through `now`.

import type uPlot from "uplot";
import type { Palette } from "../../app/palette";
import { SANS } from "../../app/palette";
import type { Format } from "../../i18n/format";
import { logNumber, SPAN_STEPS, tickNumber, tickPlace } from "./axis_text";
import type { LineStyle } from "./line_style";
import type { Span } from "./scale";
import { logTicks } from "./scale";
import type { Axis } from "./transform";

export interface PlotLook {
  axis: Axis;
  log: boolean;
  /** Two series for each: the raw one behind the smooth one. */
  lines: { id: string; style: LineStyle; shown: boolean }[];
  /** The raw ones show. */
  raw: boolean;
}

/** What an update changes without a new plot. */
export interface PlotNow {
  x: Span;
  y: Span;
  /** Of each line, where it has gaps. */
  gaps: number[][];
  onZoom: (span: Span | undefined) => void;
  onCursor: (index: number | null) => void;
}

export interface PlotHandle {
  /** Puts the cursor, of all plots of the group, on a place of the data. */
  moveTo: (index: number) => void;
}

interface Given {
  look: PlotLook;
  palette: Palette;
  format: Format;
  size: { width: number; height: number };
  now: () => PlotNow;
  /** Plots with the same one share the cursor. */
  group: string;
}

// In pixels: a shorter drag is a click with an unsteady hand.
const DRAG_MIN = 6;
const FONT = `11px ${SANS}`;
// Of #rrggbb, so that the raw curve stays behind the smooth one.
const FAINT = "59";

export function plotOptions(given: Given): uPlot.Options {
  const { look, size, now, group } = given;
  return {
    ...size,
    ms: 1e-3,
    // The last number of the axis stands half beyond its end.
    padding: [10, 26, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: DRAG_MIN },
      sync: {
        key: group,
        setSeries: false,
        scales: ["x", null],
        // A drag on one chart is no drag on all of them.
        filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
      },
      points: { size: 6 },
      bind: {
        dblclick: () => () => {
          now().onZoom(undefined);
          return null;
        },
      },
    },
    scales: {
      x: { time: look.axis === "wall", range: () => [...now().x] },
      y: { distr: look.log ? 3 : 1, range: () => [...now().y] },
    },
    axes: axesOf(given),
    series: [{}, ...look.lines.flatMap((line) => seriesOf(line, look.raw))],
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < DRAG_MIN) return;
          const from = plot.posToVal(left, "x");
          const to = plot.posToVal(left + width, "x");
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          now().onZoom([from, to]);
        },
      ],
      setCursor: [(plot) => now().onCursor(plot.cursor.idx ?? null)],
      draw: [(plot) => drawGaps(plot, look, now().gaps)],
    },
  };
}

function seriesOf({ style, shown }: PlotLook["lines"][number], raw: boolean): uPlot.Series[] {
  const { colour, dash, dots } = style;
  // A dot is a value as it was, not the average that runs past it.
  const dot: uPlot.Series.Points = { show: true, size: 6, stroke: colour, fill: colour };
  return [
    {
      show: shown && raw,
      stroke: colour + FAINT,
      width: 1,
      points: dots ? dot : { show: false },
    },
    {
      show: shown,
      stroke: colour,
      width: 1.75,
      dash,
      // A curve of one point is no line.
      points: dots ? { ...dot, show: !raw } : { size: 5 },
    },
  ];
}

function axesOf({ look, palette, format }: Given): uPlot.Axis[] {
  const common: uPlot.Axis = {
    stroke: palette.muted,
    font: FONT,
    grid: { stroke: palette.line, width: 1 },
    ticks: { stroke: palette.line, width: 1, size: 4 },
  };
  return [
    {
      ...common,
      size: 30,
      space: look.axis === "step" ? 64 : 78,
      ...(look.axis === "relative" ? { incrs: SPAN_STEPS } : {}),
      values: (_, ticks, __, ___, distance) =>
        ticks.map((tick) => tickPlace(look.axis, tick, distance, format)),
    },
    {
      ...common,
      space: 34,
      size: (_, texts) => {
        const longest = Math.max(0, ...(texts ?? []).map((text) => text.length));
        return Math.max(40, 16 + longest * 6.5);
      },
      ...(look.log
        ? {
            splits: (_: uPlot, __: number, min: number, max: number) => logTicks(min, max),
            filter: (_: uPlot, ticks: number[]) => ticks,
            values: (_: uPlot, ticks: number[]) => ticks.map(logNumber),
          }
        : {
            values: (_: uPlot, ticks: number[], __: number, ___: number, distance: number) =>
              ticks.map((tick) => tickNumber(tick, distance)),
          }),
    },
  ];
}

// Half the size of a cross, in pixels of the screen.
const CROSS = 3;

/** A cross at the foot of the chart wherever a line has a value that cannot be drawn. */
function drawGaps(plot: uPlot, { lines }: PlotLook, gaps: number[][]): void {
  const { ctx, bbox } = plot;
  const size = CROSS * window.devicePixelRatio;
  const bottom = bbox.top + bbox.height - size * 2;
  ctx.save();
  ctx.lineWidth = 1.5 * window.devicePixelRatio;
  lines.forEach(({ style, shown }, index) => {
    if (!shown) return;
    ctx.strokeStyle = style.colour;
    for (const place of gaps[index] ?? []) {
      const x = plot.valToPos(place, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x - size, bottom - size);
      ctx.lineTo(x + size, bottom + size);
      ctx.moveTo(x + size, bottom - size);
      ctx.lineTo(x - size, bottom + size);
      ctx.stroke();
    }
  });
  ctx.restore();
}
