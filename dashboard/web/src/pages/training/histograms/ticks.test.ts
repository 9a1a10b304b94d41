import { expect, test } from "vitest";
import { en } from "../../../i18n/en";
import { newFormat } from "../../../i18n/format";
import { middleOf, ticksAcross } from "./frame";
import { heightTicks, niceDistance, placeTicks, valueTicks } from "./ticks";

const format = newFormat("en", en);

test("ticks are 1, 2 or 5 times a power of ten apart, and no more than asked for", () => {
  expect(niceDistance([0, 10], 5)).toBe(2);
  expect(niceDistance([0, 1], 3)).toBe(0.5);
  for (const most of [1, 2, 3, 7]) {
    expect(valueTicks([-0.37, 0.41], most).length).toBeLessThanOrEqual(most + 1);
  }
});

test("zero is 0, with no sign and no digits behind it", () => {
  const texts = valueTicks([-1e-6, 1e-6], 4).map(({ text }) => text);
  expect(texts).toContain("0");
  expect(placeTicks("step", [0, 5000], 5, format)[0]?.text).toBe("0");
});

test("a tick is where its value is", () => {
  expect(valueTicks([-1, 3], 4)).toEqual([
    ...[{ at: 0, text: "-1" }, { at: 0.25, text: "0" }, { at: 0.5, text: "1" }],
    ...[{ at: 0.75, text: "2" }, { at: 1, text: "3" }],
  ]);
});

test("steps are whole, and lengths of time are what people count in", () => {
  expect(placeTicks("step", [0, 2], 8, format).map(({ text }) => text)).toEqual(["0", "1", "2"]);
  const times = placeTicks("relative", [0, 3600], 4, format).map(({ text }) => text);
  expect(times).toEqual(["0s", "15m", "30m", "45m", "1h"]);
  expect(placeTicks("step", [7, 7], 4, format)).toEqual([{ at: 0.5, text: "7" }]);
});

test("a logarithmic axis has ticks at its powers", () => {
  const ticks = heightTicks({ top: 1000, low: 1 }, 4);
  expect(ticks.map(({ text }) => text)).toEqual(["1", "10", "100", "1,000"]);
  expect(ticks[1]?.at).toBeCloseTo(1 / 3);
});

test("ticks that would touch are made fewer", () => {
  const ticks = ticksAcross(200, (most) => valueTicks([-2e6, 2e6], most));
  const longest = Math.max(...ticks.map(({ text }) => text.length)) * 6;
  expect(((ticks[1]?.at ?? 1) - (ticks[0]?.at ?? 0)) * 200).toBeGreaterThan(longest);
  expect(ticks.length).toBeGreaterThan(1);
});

test("a range without a size has no ticks, and hangs nothing", () => {
  expect(valueTicks([1, 1], 4)).toEqual([]);
  expect(valueTicks([0, Infinity], 4)).toEqual([]);
});

// "1.5e-8" at the right end read "1.5e-" before.
test("a number at an end of the axis stays within the canvas", () => {
  expect(middleOf("0", 150, 300)).toBe(150);
  expect(middleOf("1.5e-8", 150, 300)).toBe(150);
  expect(middleOf("1.5e-8", 300, 300)).toBeLessThan(300);
  expect(middleOf("-1.5e-8", 0, 300)).toBeGreaterThan(0);
  expect(middleOf("0.1", 300, 300)).toBe(300);
});
