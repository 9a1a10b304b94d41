// The lines of all replicas in the order in which they came: a ring of a million, in chunks.
//
// A chunk that is full becomes one long text, which takes half of the memory of its lines and is
// searched at once. A line has a number that stays the same when older ones are dropped.
//
//   store.push({ t: "2026-11-21T05:54:17Z", r: "worker-0", l: "step 10" });
//   store.line(store.first)?.text

import type { LogRecord } from "../../api/types";
import { isPlain, plainText } from "./ansi";
import { NO_TIME, TimeReader } from "./line_time";
import { overwritten } from "./overwrite";

export const CHUNK_LINES = 4096;
// A person cannot look at more, and a browser's tab holds them well: some 200 MB.
export const MAX_LINES = 1_000_000;
// Of the lines' characters, for logs with long ones.
export const MAX_CHARACTERS = 300_000_000;

export type LineKind = "line" | "begin" | "end" | "error";
const KINDS: readonly LineKind[] = ["line", "begin", "end", "error"];

export interface Line {
  /** Its number; they have no gaps. */
  index: number;
  kind: LineKind;
  replica: string;
  /** NaN: none. */
  time: number;
  /** Without escapes; of a note its message. */
  text: string;
  /** With escapes; undefined: it has none. */
  raw: string | undefined;
  /** Of a note. */
  podNumber: number | undefined;
}

/** Lines as one text, for the search. */
export interface Part {
  /** The number of the first. */
  from: number;
  /** Lines joined by line ends. */
  text: string;
  /** Where each begins. */
  starts: Uint32Array;
}

class Chunk {
  count = 0;
  characters = 0;
  readonly times = new Float64Array(CHUNK_LINES);
  readonly replicas = new Uint16Array(CHUNK_LINES);
  readonly kinds = new Uint8Array(CHUNK_LINES);
  readonly raws = new Map<number, string>();
  readonly pods = new Map<number, number>();
  readonly starts = new Uint32Array(CHUNK_LINES);
  /** Until it is full. */
  lines: string[] | undefined = [];
  text = "";

  add(text: string): void {
    this.lines?.push(text);
    this.starts[this.count] = this.characters;
    this.characters += text.length + 1;
    this.count += 1;
    if (this.count < CHUNK_LINES) return;
    this.text = this.lines?.join("\n") ?? "";
    this.lines = undefined;
  }

  textOf(place: number): string {
    if (this.lines) return this.lines[place] ?? "";
    const start = this.starts[place] ?? 0;
    const next = this.starts[place + 1] ?? this.characters;
    return this.text.slice(start, next - 1);
  }

  part(from: number, base: number): Part {
    if (from === 0 && !this.lines) return { from: base, text: this.text, starts: this.starts };
    const begin = this.starts[from] ?? 0;
    const starts = this.starts.slice(from, this.count).map((start) => start - begin);
    const text = this.lines
      ? this.lines.slice(from).join("\n")
      : this.text.slice(begin, this.characters - 1);
    return { from: base + from, text, starts };
  }
}

export class LogStore {
  #chunks: Chunk[] = [];
  #first = 0;
  #end = 0;
  #characters = 0;
  #dropped = 0;
  #readers = new TimeReader();
  readonly #replicas: string[] = [];
  readonly #replicaNumbers = new Map<string, number>();
  readonly #maxLines: number;

  constructor(maxLines = MAX_LINES) {
    this.#maxLines = maxLines;
  }

  /** The number of the oldest line, and of the one that comes next. */
  get first(): number {
    return this.#first;
  }
  get end(): number {
    return this.#end;
  }
  get length(): number {
    return this.#end - this.#first;
  }
  /** Lines that had to go to make room. */
  get dropped(): number {
    return this.#dropped;
  }
  /** Of all lines that came, in the order of their first. */
  get replicas(): readonly string[] {
    return this.#replicas;
  }

  /** Numbers go on, so that nobody takes an old one for a new one. */
  clear(): void {
    this.#end = Math.ceil(this.#end / CHUNK_LINES) * CHUNK_LINES;
    this.#first = this.#end;
    this.#chunks = [];
    this.#characters = 0;
    this.#dropped = 0;
  }

  push(record: LogRecord): void {
    let chunk = this.#chunks.at(-1);
    if (!chunk || chunk.count === CHUNK_LINES) {
      chunk = new Chunk();
      this.#chunks.push(chunk);
    }
    const place = chunk.count;
    const note = "note" in record;
    const raw = note ? (record.message ?? "") : overwritten(record.l);
    const plain = isPlain(raw);
    const text = plain ? raw : plainText(raw);
    chunk.times[place] = note ? this.#lastTime(chunk) : this.#readers.read(record.t);
    chunk.replicas[place] = this.#numberOf(record.r);
    chunk.kinds[place] = note ? Math.max(1, KINDS.indexOf(record.note)) : 0;
    if (!plain && raw.includes("\u001b")) chunk.raws.set(place, raw);
    if (note && record.podNumber !== undefined) chunk.pods.set(place, record.podNumber);
    chunk.add(text);
    this.#end += 1;
    this.#characters += text.length;
    if (chunk.count === CHUNK_LINES) this.#makeRoom();
  }

  line(index: number): Line | undefined {
    const found = this.#at(index);
    if (!found) return undefined;
    const [chunk, place] = found;
    return {
      index,
      kind: KINDS[chunk.kinds[place] ?? 0] ?? "line",
      replica: this.#replicas[chunk.replicas[place] ?? 0] ?? "",
      time: chunk.times[place] ?? NO_TIME,
      text: chunk.textOf(place),
      raw: chunk.raws.get(place),
      podNumber: chunk.pods.get(place),
    };
  }

  /** Those of one chunk from line `from` on; undefined: there are none. */
  part(from: number): Part | undefined {
    const found = this.#at(Math.max(from, this.#first));
    if (!found) return undefined;
    const [chunk, place] = found;
    return chunk.part(place, Math.max(from, this.#first) - place);
  }

  /** The first line at this time or later; undefined: all are earlier. */
  firstSince(time: number): number | undefined {
    for (let index = this.#first; index < this.#end; index += CHUNK_LINES) {
      const [chunk] = this.#at(index) ?? [];
      if (!chunk) return undefined;
      const place = chunk.times.subarray(0, chunk.count).findIndex((at) => at >= time);
      if (place >= 0) return index + place;
    }
    return undefined;
  }

  #at(index: number): [Chunk, number] | undefined {
    if (index < this.#first || index >= this.#end) return undefined;
    const offset = index - this.#first;
    const chunk = this.#chunks[Math.floor(offset / CHUNK_LINES)];
    return chunk && [chunk, offset % CHUNK_LINES];
  }

  // A note stands where it came, so its time is that of the line before it.
  #lastTime(chunk: Chunk): number {
    if (chunk.count > 0) return chunk.times[chunk.count - 1] ?? NO_TIME;
    const before = this.#at(this.#end - 1);
    return before ? (before[0].times[before[1]] ?? NO_TIME) : NO_TIME;
  }

  #numberOf(replica: string): number {
    const known = this.#replicaNumbers.get(replica);
    if (known !== undefined) return known;
    const number = this.#replicas.length;
    this.#replicas.push(replica);
    this.#replicaNumbers.set(replica, number);
    return number;
  }

  #makeRoom(): void {
    const many = (): boolean => this.length > this.#maxLines || this.#characters > MAX_CHARACTERS;
    while (this.#chunks.length > 1 && many()) {
      const oldest = this.#chunks.shift();
      this.#characters -= (oldest?.characters ?? 0) - CHUNK_LINES;
      this.#first += CHUNK_LINES;
      this.#dropped += CHUNK_LINES;
    }
  }
}
