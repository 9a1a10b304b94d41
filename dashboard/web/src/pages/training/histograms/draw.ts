// What is drawn of a scene, within the axes. Age is told by lightness of one colour and what is
// chosen by another one of another lightness, so that nobody has to tell hues apart.

import type { Palette } from "../../../app/palette";
import type { Bar, Heights } from "./bars";
import { fractionOf } from "./bars";
import type { BandPoint, BandScene } from "./bands";
import { bandLine, bandOutline, BANDS, MIDDLE } from "./bands";
import type { Context } from "./frame";
import { mix, path } from "./frame";
import type { Ridge, RidgeScene, Size } from "./ridges";

// Of the way from the ground to the full colour.
const OLDEST = 0.3;
const FILL = 0.45;
const EDGE = 0.8;
const BAND_FILLS = [0.16, 0.32, 0.48, 0.66];

export function drawRidges(ctx: Context, scene: RidgeScene, palette: Palette): void {
  const stacked = scene.depth[0] !== scene.depth[1];
  const colour = (age: number): string =>
    mix(palette.surface, palette.accent, OLDEST + (1 - OLDEST) * age);
  ctx.save();
  ctx.lineJoin = "round";
  ctx.lineWidth = 1;
  for (const ridge of scene.ridges) {
    path(ctx, ridge.dots);
    if (stacked) {
      ctx.fillStyle = mix(palette.surface, colour(ridge.age), FILL);
      ctx.fill();
      // Its edge stands out from the one behind, whatever their ages.
      ctx.strokeStyle = mix(palette.surface, palette.accent, ridge.age === 1 ? 1 : EDGE);
    } else {
      ctx.strokeStyle = colour(ridge.age);
      ctx.lineWidth = ridge.age === 1 ? 2 : 1;
    }
    ctx.stroke();
    if (ridge.cut) drawCuts(ctx, ridge, scene, palette);
  }
  ctx.restore();
}

const CUT = 4;

/** An arrow upwards where a peak goes on beyond the axis. */
function drawCuts(ctx: Context, ridge: Ridge, scene: RidgeScene, palette: Palette): void {
  const top = ridge.base - scene.peak;
  ctx.fillStyle = palette.text;
  for (const bar of ridge.bars) {
    if (bar.value <= scene.heights.top) continue;
    const x = (bar.from + bar.to) / 2;
    path(ctx, [[x - CUT, top + CUT], [x, top - CUT / 2], [x + CUT, top + CUT]]);
    ctx.fill();
  }
}

export interface Marked {
  /** The one of the slider. */
  chosen: number | undefined;
  /** Under the cursor. */
  hover: number | undefined;
  /** Of the cursor, in pixels. */
  x: number | undefined;
}

export function drawMarkedRidges(
  ctx: Context,
  scene: RidgeScene,
  { chosen, hover, x }: Marked,
  palette: Palette,
): void {
  ctx.save();
  ctx.lineJoin = "round";
  if (x !== undefined) drawCursor(ctx, x, scene.size, palette);
  const lines = [
    { index: chosen, colour: palette.warning, width: 2 },
    { index: hover, colour: palette.text, width: 2.5 },
  ];
  for (const { index, colour, width } of lines) {
    const ridge = scene.ridges.find((one) => one.index === index);
    if (!ridge) continue;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    path(ctx, ridge.dots);
    ctx.stroke();
  }
  ctx.restore();
}

function drawCursor(ctx: Context, x: number, { height }: Size, palette: Palette): void {
  ctx.strokeStyle = palette.muted;
  ctx.lineWidth = 1;
  path(ctx, [[Math.round(x) + 0.5, 0], [Math.round(x) + 0.5, height]]);
  ctx.stroke();
}

export function drawBands(ctx: Context, { parts }: BandScene, palette: Palette): void {
  ctx.save();
  for (const part of parts) {
    BANDS.forEach((band, index) => {
      ctx.fillStyle = mix(palette.surface, palette.accent, BAND_FILLS[index] ?? 1);
      path(ctx, bandOutline(part, band));
      ctx.fill();
    });
    ctx.lineJoin = "round";
    for (let basis = 0; basis < 2 * BANDS.length + 1; basis += 1) {
      ctx.strokeStyle = basis === MIDDLE ? palette.text : palette.accent;
      ctx.lineWidth = basis === MIDDLE ? 1.5 : 0.5;
      path(ctx, bandLine(part, basis));
      ctx.stroke();
    }
  }
  ctx.restore();
}

export function drawMarkedBand(
  ctx: Context,
  { size }: BandScene,
  marked: { chosen: BandPoint | undefined; hover: BandPoint | undefined },
  palette: Palette,
): void {
  ctx.save();
  const lines = [
    { point: marked.chosen, colour: palette.warning },
    { point: marked.hover, colour: palette.text },
  ];
  for (const { point, colour } of lines) {
    if (!point) continue;
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2;
    path(ctx, [[point.x, 0], [point.x, size.height]]);
    ctx.stroke();
  }
  ctx.restore();
}

// Bars that are wider than this have a line between them, so that their true edges show.
const APART = 4;

export function drawBars(
  ctx: Context,
  bars: readonly Bar[],
  heights: Heights,
  size: Size,
  palette: Palette,
): void {
  ctx.save();
  ctx.fillStyle = mix(palette.surface, palette.warning, 0.55);
  ctx.strokeStyle = palette.surface;
  ctx.lineWidth = 1;
  for (const bar of bars) {
    // Between whole pixels: the seams of narrow bars would make a pattern that is not there.
    const left = Math.round(bar.from);
    const width = Math.max(1, Math.round(bar.to) - left);
    const height = fractionOf(bar.value, heights) * size.height;
    ctx.fillRect(left, size.height - height, width, height);
    if (width >= APART) ctx.strokeRect(left, size.height - height, width, height + 1);
  }
  ctx.restore();
}

/** The bar under the cursor. */
export function drawMarkedBar(
  ctx: Context,
  bar: Bar | undefined,
  heights: Heights,
  size: Size,
  palette: Palette,
): void {
  if (!bar) return;
  ctx.save();
  const height = Math.max(2, fractionOf(bar.value, heights) * size.height);
  ctx.fillStyle = palette.text;
  ctx.fillRect(bar.from, size.height - height, Math.max(2, bar.to - bar.from), height);
  ctx.restore();
}
