// How the squares of one job look: a hue, a pattern and letters, the same on every screen and at
// every time. Hues keep away from those that mean trouble.

const HUES = [210, 140, 285, 60, 180, 320, 95, 245];
const PATTERNS = 4;

/** FNV-1a: short names that differ in one letter get different values. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  // The low bits of FNV follow the last letter: mix them.
  value ^= value >>> 15;
  return value >>> 0;
}

export interface JobStyle {
  hue: number;
  /** 0: plain. */
  pattern: number;
}

export function styleOf(group: string): JobStyle {
  const value = hash(group);
  const hue = HUES[value % HUES.length] ?? 0;
  return { hue, pattern: Math.floor(value / HUES.length) % PATTERNS };
}

/**
 * At most three letters: "mnist" → "mni", "resnet-sweep-00012" → "r12". Jobs of a series begin the
 * same and end differently.
 */
export function lettersOf(name: string): string {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== "");
  const first = [...(parts[0] ?? "")];
  const last = [...(parts.at(-1) ?? "")];
  if (parts.length < 2) return first.slice(0, 3).join("");
  const isNumber = last.every((letter) => /\d/.test(letter));
  const end = isNumber ? last.slice(-2) : last.slice(0, 2);
  return [...first.slice(0, 1), ...end].join("");
}
