// Contrast by WCAG 2.2: 4.5 : 1 for texts (1.4.3), 3 : 1 for what can be operated (1.4.11).

import { describe, expect, test } from "vitest";
import type { Palette } from "./palette";
import { DARK, LIGHT } from "./palette";

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ["page", "surface", "sunken", "hover", "selected"] as const;
const TEXTS = ["text", "muted", "accent", "ok", "warning", "critical", "info"] as const;
const ON_SOFT = [
  ["ok", "okSoft"],
  ["warning", "warningSoft"],
  ["critical", "criticalSoft"],
  ["info", "infoSoft"],
] as const;

describe.each<[string, Palette]>([
  ["light", LIGHT],
  ["dark", DARK],
])("the %s palette", (_, palette) => {
  test("has readable texts on all grounds", () => {
    const weak: string[] = [];
    const check = (text: keyof Palette, ground: keyof Palette, least: number): void => {
      const ratio = contrast(palette[text], palette[ground]);
      if (ratio < least) weak.push(`${text} on ${ground}: ${ratio.toFixed(2)}`);
    };
    for (const ground of GROUNDS) {
      for (const text of TEXTS) check(text, ground, 4.5);
      check("edge", ground, 3);
    }
    for (const [text, ground] of ON_SOFT) {
      check(text, ground, 4.5);
      check("text", ground, 4.5);
    }
    check("onAccent", "accent", 4.5);
    expect(weak).toEqual([]);
  });
});
