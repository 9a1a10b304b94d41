// What programs write for terminals: colours become classes, all else of it goes; no markup is
// ever made of it.
//
//   plainText("\u001b[31mred\u001b[0m")   // "red"
//   ansiSpans("\u001b[31mred\u001b[0m")   // [{ text: "red", style: "ansi-red" }]

import { hidesSomething, visible } from "../../components/visible";

export interface Span {
  text: string;
  /** Classes; "": none. */
  style: string;
}

// CSI sequences (of which those that end with "m" are colours), OSC sequences such as links and
// titles up to their end, and other two-character escapes.
const ESCAPES =
  /\u001b(?:\[([0-9;:]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-Z\\^-~])/g;
export function isPlain(text: string): boolean {
  return !hidesSomething(text);
}

/** As one line without escapes. */
export function plainText(text: string): string {
  return visible(text.replace(ESCAPES, ""));
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

class Pen {
  colour = "";
  back = "";
  bold = false;
  faint = false;
  italic = false;
  underline = false;

  reset(): void {
    Object.assign(this, new Pen());
  }

  get style(): string {
    const classes = [
      this.colour === "" ? "" : `ansi-${this.colour}`,
      this.back === "" ? "" : `ansi-on-${this.back}`,
      this.bold ? "ansi-bold" : "",
      this.faint ? "ansi-faint" : "",
      this.italic ? "ansi-italic" : "",
      this.underline ? "ansi-underline" : "",
    ];
    return classes.filter((name) => name !== "").join(" ");
  }

  apply(parameters: string): void {
    const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map(Number);
    for (let i = 0; i < codes.length; i += 1) {
      const code = codes[i] ?? 0;
      if (code === 38 || code === 48) {
        const [colour, used] = extended(codes.slice(i + 1));
        if (code === 38) this.colour = colour;
        else this.back = colour;
        i += used;
      } else {
        this.#applyOne(code);
      }
    }
  }

  #applyOne(code: number): void {
    if (code === 0) this.reset();
    else if (code === 1) this.bold = true;
    else if (code === 2) this.faint = true;
    else if (code === 3) this.italic = true;
    else if (code === 4) this.underline = true;
    else if (code === 22) this.bold = this.faint = false;
    else if (code === 23) this.italic = false;
    else if (code === 24) this.underline = false;
    else if (code === 39) this.colour = "";
    else if (code === 49) this.back = "";
    else if (code >= 30 && code <= 37) this.colour = NAMES[code - 30] ?? "";
    else if (code >= 90 && code <= 97) this.colour = `bright-${NAMES[code - 90] ?? ""}`;
    else if (code >= 40 && code <= 47) this.back = NAMES[code - 40] ?? "";
    else if (code >= 100 && code <= 107) this.back = NAMES[code - 100] ?? "";
  }
}

/** Of 256 or 16 million colours the nearest of the sixteen, which suit both themes. */
function extended(rest: number[]): [colour: string, used: number] {
  if (rest[0] === 5) {
    const index = rest[1] ?? 0;
    if (index < 8) return [NAMES[index] ?? "", 2];
    if (index < 16) return [`bright-${NAMES[index - 8] ?? ""}`, 2];
    if (index >= 232) return [nearest(...grey(index)), 2];
    const cube = index - 16;
    const level = (value: number): number => (value === 0 ? 0 : 55 + 40 * value);
    const levels = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level);
    return [nearest(levels[0] ?? 0, levels[1] ?? 0, levels[2] ?? 0), 2];
  }
  if (rest[0] === 2) return [nearest(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0), 4];
  return ["", 1];
}

function grey(index: number): [number, number, number] {
  const value = 8 + 10 * (index - 232);
  return [value, value, value];
}

function nearest(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  const bits = [red, green, blue].map((part) => (most > 0 && part > most / 2 ? 1 : 0));
  const index = (bits[0] ?? 0) + 2 * (bits[1] ?? 0) + 4 * (bits[2] ?? 0);
  if (most < 64) return "black";
  return most > 192 ? `bright-${NAMES[index] ?? ""}` : (NAMES[index] ?? "");
}

/** The pieces of which plainText(text) is made, each with its classes. */
export function ansiSpans(text: string): Span[] {
  const spans: Span[] = [];
  const pen = new Pen();
  let done = 0;
  const add = (end: number): void => {
    if (end <= done) return;
    spans.push({ text: visible(text.slice(done, end)), style: pen.style });
  };
  for (const match of text.matchAll(ESCAPES)) {
    add(match.index);
    done = match.index + match[0].length;
    if (match[2] === "m") pen.apply(match[1] ?? "");
  }
  add(text.length);
  return spans;
}
