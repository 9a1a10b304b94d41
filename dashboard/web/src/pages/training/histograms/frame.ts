// Where a picture is within its canvas, and the axes around it.

import type { Palette } from "../../../app/palette";
import { SANS } from "../../../app/palette";
import type { Dot, Size } from "./ridges";
import type { Tick } from "./ticks";

export interface Margins {
  top: number;
  right: number;
  bottom: number;
  left: number;
}

export interface Axes {
  below: Tick[];
  left: Tick[];
  right: Tick[];
}

export const FONT = `11px ${SANS}`;
// Of a digit in that font; no canvas has to be asked, so that the layout is the same everywhere.
const DIGIT = 6.4;
const GAP = 6;
const BELOW = 20;
const LEAST = 12;
// Between ticks, in pixels.
const ACROSS = 44;
const DOWN = 34;

export function marginsOf(left: readonly Tick[], right: readonly Tick[]): Margins {
  const room = (ticks: readonly Tick[]): number =>
    ticks.length === 0
      ? LEAST
      : Math.max(LEAST, GAP * 2 + Math.max(...ticks.map(({ text }) => text.length)) * DIGIT);
  return { top: 8, right: room(right), bottom: BELOW, left: room(left) };
}

export function inside({ width, height }: Size, margins: Margins): Size {
  return {
    width: Math.max(0, width - margins.left - margins.right),
    height: Math.max(0, height - margins.top - margins.bottom),
  };
}

/** As many as stand side by side; make: at most so many. */
export function ticksAcross(width: number, make: (most: number) => Tick[]): Tick[] {
  let ticks: Tick[] = [];
  for (let most = Math.max(1, Math.floor(width / ACROSS)); most > 0; most -= 1) {
    ticks = make(most);
    const longest = Math.max(0, ...ticks.map(({ text }) => text.length)) * DIGIT;
    const [first, second] = ticks;
    if (!first || !second || (second.at - first.at) * width > longest + GAP * 2) break;
  }
  return ticks;
}
export function ticksDown(height: number): number {
  return Math.max(1, Math.floor(height / DOWN));
}

/** Of a text below `x`: moved aside where it would be cut at an end of the canvas. */
export function middleOf(text: string, x: number, width: number): number {
  const half = (text.length * DIGIT) / 2;
  return Math.min(Math.max(x, half - LEAST), width + LEAST - half);
}

export type Context = CanvasRenderingContext2D;

/** Ticks of `right` run along `depth`, from above: where the oldest and the newest ridge stand. */
export function drawAxes(
  ctx: Context,
  size: Size,
  { below, left, right }: Axes,
  palette: Palette,
  depth: readonly [number, number] = [size.height, 0],
): void {
  ctx.save();
  ctx.font = FONT;
  ctx.lineWidth = 1;
  ctx.strokeStyle = palette.line;
  ctx.fillStyle = palette.muted;
  const line = (x0: number, y0: number, x1: number, y1: number): void => {
    ctx.beginPath();
    ctx.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
    ctx.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
    ctx.stroke();
  };
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const { at, text } of below) {
    const x = at * size.width;
    line(x, 0, x, size.height + 3);
    ctx.fillText(text, middleOf(text, x, size.width), size.height + GAP);
  }
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const { at, text } of left) {
    const y = (1 - at) * size.height;
    line(-3, y, size.width, y);
    ctx.fillText(text, -GAP, y);
  }
  ctx.textAlign = "left";
  for (const { at, text } of right) {
    const y = depth[0] + at * (depth[1] - depth[0]);
    line(0, y, size.width + 3, y);
    ctx.fillText(text, size.width + GAP, y);
  }
  ctx.restore();
}

export function path(ctx: Context, dots: readonly Dot[]): void {
  ctx.beginPath();
  dots.forEach(([x, y], index) => (index === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
}

/** Of two #rrggbb: part 0 is the first, 1 the second. */
export function mix(from: string, to: string, part: number): string {
  const channel = (at: number): string => {
    const a = parseInt(from.slice(at, at + 2), 16);
    const b = parseInt(to.slice(at, at + 2), 16);
    return Math.round(a + (b - a) * part)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}
