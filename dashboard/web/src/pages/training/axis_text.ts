// What stands beside the ticks of an axis.

import type { Format } from "../../i18n/format";
import type { Axis } from "./transform";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Lengths of time that people count in, for the distance of two ticks. */
export const SPAN_STEPS = [
  ...[0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((days) => days * DAY),
];

// Beyond these a number is shorter with an exponent.
const LARGE = 1e7;
const SMALL = 1e-4;
const DIGITS_MAX = 8;

/** As many digits as tell the tick from its neighbour. */
export function tickNumber(value: number, distance: number): string {
  const size = Math.max(Math.abs(value), distance);
  if (value !== 0 && (size >= LARGE || size < SMALL)) return value.toExponential(1);
  const digits = Math.max(0, Math.ceil(-Math.log10(distance) - 1e-9));
  const shown = Math.min(DIGITS_MAX, digits);
  return value.toLocaleString("en-GB", {
    minimumFractionDigits: shown,
    maximumFractionDigits: shown,
  });
}

export function logNumber(value: number): string {
  if (value >= LARGE || value < SMALL / 10) return value.toExponential(0);
  return value.toLocaleString("en-GB", { maximumSignificantDigits: 3 });
}

/** A place of the x axis, between two ticks `distance` apart. */
export function tickPlace(axis: Axis, value: number, distance: number, format: Format): string {
  if (axis === "step") return tickNumber(value, distance);
  if (axis === "relative") {
    return value < MINUTE && distance < 1 ? `${tickNumber(value, distance)} s` : format.span(value);
  }
  const time = format.time(value * 1000);
  return distance >= MINUTE ? time.replace(/:\d\d$/, "") : time;
}

/** A place of the x axis by itself. */
export function placeText(axis: Axis, value: number, format: Format): string {
  if (axis === "step") return format.number(value);
  return axis === "relative" ? format.span(value) : format.dateTime(value * 1000);
}

/** Four digits: that is what losses are compared by. */
export function valueText(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (value !== 0 && (size >= LARGE || size < SMALL)) return value.toExponential(3);
  return value.toLocaleString("en-GB", { maximumSignificantDigits: size >= 1000 ? 7 : 4 });
}
