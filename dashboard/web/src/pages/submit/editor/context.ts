// Where the cursor is in a manifest that is being typed, and so may not be readable yet: below
// which path, and whether a key or a value comes there.
//
// Lines are read by their indentation, brackets by counting them.

import type { Key } from "../manifest/path";

export interface CursorContext {
  /** Of the mapping that the key is in, or of the value itself. */
  path: Key[];
  expects: "key" | "value";
  /** Where what is being typed begins. */
  from: number;
  /** Between brackets nothing may follow on lines of its own. */
  inFlow: boolean;
}

interface Frame {
  column: number;
  key: Key;
}
interface Bracket {
  list: boolean;
  index: number;
  /** Of a mapping: the key whose value comes; of the text since the last comma. */
  key: string | undefined;
  start: number;
}

export function contextAt(text: string, position: number): CursorContext | undefined {
  const reader = new Reader();
  let at = 0;
  for (const line of text.slice(0, position).split("\n")) {
    reader.line(line, at);
    at += line.length + 1;
  }
  return reader.context(position);
}

const KEY =
  /^(?:"([^"]*)"|'([^']*)'|([^\s#"'{}[\],&*!|>%@`-][^#{}[\]]*?|-[^\s#][^#{}[\]]*?))\s*:(?=\s|$)/;

class Reader {
  #frames: Frame[] = [];
  #brackets: Bracket[] = [];
  /** Lines that are indented more than this belong to a block scalar. */
  #scalar: number | undefined;
  #last: CursorContext | undefined;

  context(position: number): CursorContext | undefined {
    const bracket = this.#brackets.at(-1);
    if (!bracket) return this.#last;
    const path = this.#path();
    if (bracket.list) return { path, expects: "value", from: bracket.start, inFlow: true };
    const expects = bracket.key === undefined ? "key" : "value";
    return { path, expects, from: Math.min(bracket.start, position), inFlow: true };
  }

  line(line: string, at: number): void {
    this.#last = undefined;
    if (this.#brackets.length > 0) return this.#flow(line, 0, at);
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    if (this.#scalar !== undefined) {
      if (line.trim() === "" || indent > this.#scalar) return;
      this.#scalar = undefined;
    }
    this.#block(line, indent, at);
  }

  #block(line: string, indent: number, at: number): void {
    let column = indent;
    while (/^-(?: +|$)/.test(line.slice(column))) {
      this.#item(column);
      column += /^-( *)/.exec(line.slice(column))?.[0].length ?? 1;
    }
    const rest = line.slice(column);
    if (rest.startsWith("#")) return;
    if (rest === "") {
      // What follows may be further in again: nothing ends here.
      const above = this.#frames.filter((frame) => frame.column < column);
      const path = above.map(({ key }) => key);
      this.#last = { path, expects: "key", from: at + column, inFlow: false };
      return;
    }
    const match = KEY.exec(rest);
    if (!match) {
      this.#leave(column);
      const expects = /^[^\s:]*$/.test(rest) ? "key" : "value";
      this.#last = { path: this.#path(), expects, from: at + column, inFlow: false };
      this.#flow(line, column, at);
      return;
    }
    this.#leave(column);
    this.#frames.push({ column, key: match[1] ?? match[2] ?? match[3] ?? "" });
    const value = column + match[0].length;
    const gap = /^\s*/.exec(line.slice(value))?.[0].length ?? 0;
    if (/^[|>][-+0-9]*\s*(?:#.*)?$/.test(line.slice(value + gap))) this.#scalar = indent;
    this.#last = { path: this.#path(), expects: "value", from: at + value + gap, inFlow: false };
    this.#flow(line, value + gap, at);
  }

  /** A mapping at `column` ends those that are as far in. */
  #leave(column: number): void {
    while ((this.#frames.at(-1)?.column ?? -1) >= column) this.#frames.pop();
  }

  /** A dash: the next item of a list, which may stand at the column of its key. */
  #item(column: number): void {
    let index = 0;
    for (let top = this.#frames.at(-1); top; top = this.#frames.at(-1)) {
      const item = typeof top.key === "number";
      if (top.column < column || (top.column === column && !item)) break;
      if (item && top.column === column) index = Number(top.key) + 1;
      this.#frames.pop();
    }
    this.#frames.push({ column, key: index });
  }

  #path(): Key[] {
    const path = this.#frames.map(({ key }) => key);
    for (const bracket of this.#brackets) {
      if (bracket.list) path.push(bracket.index);
      else if (bracket.key !== undefined) path.push(bracket.key);
    }
    return path;
  }

  #flow(line: string, from: number, at: number): void {
    const first = line[from] ?? "";
    if (this.#brackets.length === 0 && first !== "{" && first !== "[") return;
    for (let index = from; index < line.length; ++index) {
      index = this.#flowCharacter(line, index, at);
    }
  }

  /** The index of the last character that was read. */
  #flowCharacter(line: string, index: number, at: number): number {
    const character = line[index] ?? "";
    const top = this.#brackets.at(-1);
    if (character === '"' || character === "'") {
      const end = line.indexOf(character, index + 1);
      return end < 0 ? line.length : end;
    }
    if (character === "#" && /\s/.test(line[index - 1] ?? " ")) return line.length;
    if (character === "{" || character === "[") {
      this.#brackets.push({
        list: character === "[",
        index: 0,
        key: undefined,
        start: at + index + 1,
      });
    } else if (character === "}" || character === "]") {
      this.#brackets.pop();
    } else if (character === "," && top) {
      this.#brackets.pop();
      const next = { ...top, index: top.index + 1, key: undefined, start: at + index + 1 };
      this.#brackets.push(next);
    } else if (character === ":" && top && !top.list && /\s|$/.test(line[index + 1] ?? " ")) {
      const key = line.slice(Math.max(0, top.start - at), index).trim();
      top.key = key.replace(/^["'](.*)["']$/, "$1");
      top.start = at + index + 1;
    }
    if (top && character === " " && top.start === at + index) top.start += 1;
    return index;
  }
}
