// Cuts and pastes in the text of a manifest, at the places that spot.ts finds.

import type { ParsedNode } from "yaml";
import { isMap, isScalar, isSeq } from "yaml";
import { orderOf } from "../schema/lookup";
import type { Json, Path } from "./path";
import { valueAt, withValue } from "./path";
import type { Manifest } from "./read";
import { block, inline, scalar, styleOf } from "./render";
import type { MapNode, PairNode, Spot, Step } from "./spot";
import { colonEnd, endOf, endOfPair, keyOf } from "./spot";

const INDENT = 2;

/** Where the line of `at` begins. */
function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

/** Behind the line in which something ends at `at`. */
function lineEnd(text: string, at: number): number {
  // The text of a block scalar ends with its line.
  if (at > 0 && text[at - 1] === "\n") return at;
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

function cut(text: string, from: number, to: number, paste = ""): string {
  // A text with the line ends of Windows keeps them.
  const own = /\r\n/.test(text) ? paste.replaceAll(/\r?\n/g, "\r\n") : paste;
  return text.slice(0, from) + own + text.slice(to);
}

/** What takes several lines lets a comment behind the old value stand behind its first one. */
function cutLines(text: string, from: number, to: number, paste: string): string {
  const first = paste.indexOf("\n");
  if (first < 0) return cut(text, from, to, paste);
  const end = contentEnd(text, lineEnd(text, to));
  const comment = text.slice(to, Math.max(to, end)).trimEnd();
  return cut(text, from, to + comment.length, paste.slice(0, first) + comment + paste.slice(first));
}

function isFlow(steps: readonly Step[]): boolean {
  return steps.some((step) => step.container.flow === true);
}

function isStructure(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** Sets what is at `spot`, and makes what lacks on the way there. */
export function setAt(manifest: Manifest, spot: Spot, value: Json): string {
  const [key, ...below] = spot.rest;
  if (key === undefined) return replaceWith(manifest, spot, value);
  const path = pathOf(spot);
  const here = valueAt(manifest.value, path);
  const { node } = spot;
  if (isMap(node) && typeof key === "string") {
    // A key that was merged into this mapping is there, though it is not written here.
    const merged = valueAt(here, [key]);
    return addPair(manifest, spot, key, withValue(merged, below, value));
  }
  if (isSeq(node) && Array.isArray(here) && key === here.length) {
    return addItem(manifest, spot, here, withValue(undefined, below, value));
  }
  return replaceWith(manifest, spot, withValue(here, spot.rest, value));
}

function pathOf(spot: Spot): Path {
  return spot.steps.map((step) => (step.kind === "pair" ? keyOf(step.pair) : step.index));
}

export function replaceWith(manifest: Manifest, spot: Spot, value: Json): string {
  const step = spot.steps.at(-1);
  const { node } = spot;
  if (!step) return replaceRoot(manifest, value);
  if (isFlow(spot.steps)) return replaceInFlow(manifest.text, step, node, value);
  const { text } = manifest;
  const style = styleOf(manifest.doc);
  if (!isStructure(value) && isScalar(node) && node.range[0] < node.range[1] && !node.tag) {
    const indent = columnOf(text, startOf(step));
    const paste = scalar(value, node, { flow: false, indent });
    const end = contentEnd(text, node.range[1]);
    return cutLines(text, node.range[0], end, paste);
  }
  const from = step.kind === "pair" ? colonEnd(step.pair) : dashOf(step) + 1;
  // A key that stands behind "? ".
  if (from === undefined) return text;
  const to = node ? Math.max(from, contentEnd(text, endOf(node))) : from;
  const indent = columnOf(text, startOf(step)) + INDENT;
  if (!isStructure(value)) {
    return cutLines(text, from, to, ` ${scalar(value, undefined, { flow: false, indent })}`);
  }
  if (step.kind === "item") return cutLines(text, from, to, ` ${block(value, indent, style)}`);
  const key = keyOf(step.pair);
  const whole = block({ [key]: value }, indent - INDENT, style);
  return cutLines(text, step.pair.key.range[0], to, whole);
}

/** The line end behind a block scalar is not its content. */
function contentEnd(text: string, end: number): number {
  let at = end;
  while (at > 0 && (text[at - 1] === "\n" || text[at - 1] === "\r")) --at;
  return at;
}

function startOf(step: Step): number {
  return step.kind === "pair" ? step.pair.key.range[0] : dashOf(step);
}

function replaceRoot(manifest: Manifest, value: Json): string {
  const { text, doc } = manifest;
  const written = `${block(value, 0, styleOf(doc))}\n`;
  if (doc.contents === null || valueAt(manifest.value, []) === null) {
    return text === "" || text.endsWith("\n") ? text + written : `${text}\n${written}`;
  }
  return cut(text, doc.contents.range[0], endOf(doc.contents), written.trimEnd());
}

function replaceInFlow(text: string, step: Step, node: ParsedNode | null, value: Json): string {
  const old = isScalar(node) && node.range[0] < node.range[1] ? node : undefined;
  const paste = isStructure(value) ? inline(value) : scalar(value, old, { flow: true, indent: 0 });
  if (step.kind === "pair") {
    const colon = colonEnd(step.pair);
    if (colon === undefined) {
      const end = step.pair.key.range[1];
      return cut(text, end, end, `: ${paste}`);
    }
    if (!node || node.range[0] === node.range[1] || node.tag) {
      return cut(text, colon, node ? Math.max(colon, node.range[1]) : colon, ` ${paste}`);
    }
  }
  if (!node) return text;
  return cut(text, node.range[0], node.range[1], paste);
}

function addPair(manifest: Manifest, spot: Spot, key: string, value: Json): string {
  const { text } = manifest;
  const map = spot.node as MapNode;
  const pairs = map.items as PairNode[];
  const before = predecessor(manifest, spot, key);
  if (map.flow === true || isFlow(spot.steps)) {
    const pair = inline({ [key]: value }).slice(1, -1);
    if (!before) return cut(text, map.range[0] + 1, map.range[0] + 1, pair);
    const end = endOfPair(before);
    return cut(text, end, end, `, ${pair}`);
  }
  const first = pairs[0];
  if (!before || !first) return replaceWith(manifest, spot, { [key]: value });
  const indent = columnOf(text, first.key.range[0]);
  const at = lineEnd(text, endOfPair(before));
  const margin = " ".repeat(indent);
  const lines = block({ [key]: value }, indent, styleOf(manifest.doc));
  const newline = at > 0 && text[at - 1] !== "\n" ? "\n" : "";
  return cut(text, at, at, `${newline}${margin}${lines}${newline === "" ? "\n" : ""}`);
}

/** Fields come in the schema's order, as far as those that are there do. */
function predecessor(manifest: Manifest, spot: Spot, key: string): PairNode | undefined {
  const pairs = (spot.node as MapNode).items as PairNode[];
  const order = orderOf(manifest.value, pathOf(spot));
  const mine = order.indexOf(key);
  if (mine < 0) return pairs.at(-1);
  const before = pairs.filter((pair) => {
    const its = order.indexOf(keyOf(pair));
    return its >= 0 && its < mine;
  });
  return before.at(-1) ?? pairs.at(-1);
}

export function addItem(manifest: Manifest, spot: Spot, list: Json[], value: Json): string {
  const { text } = manifest;
  const seq = spot.node;
  const last = isSeq(seq) ? seq.items.at(-1) : undefined;
  if (!isSeq(seq) || !last) return replaceWith(manifest, spot, [...list, value]);
  if (seq.flow === true) {
    const end = last.range[1];
    return cut(text, end, end, `, ${isStructure(value) ? inline(value) : inlineItem(value)}`);
  }
  const step: Step = { kind: "item", container: seq, index: seq.items.length - 1 };
  const dash = dashOf(step);
  const indent = columnOf(text, dash);
  const at = lineEnd(text, Math.max(dash + 1, endOf(last)));
  const lines = block([value], indent, styleOf(manifest.doc));
  const newline = text[at - 1] !== "\n" ? "\n" : "";
  const margin = " ".repeat(indent);
  return cut(text, at, at, `${newline}${margin}${lines}${newline === "" ? "\n" : ""}`);
}

function inlineItem(value: Json): string {
  return scalar(value, undefined, { flow: true, indent: 0 });
}

export function removeStep(manifest: Manifest, spot: Spot): string {
  const { text } = manifest;
  const step = spot.steps.at(-1);
  if (!step) return text;
  const size = step.container.items.length;
  if (size === 1 && step.container.flow !== true) {
    const around = { ...spot, steps: spot.steps.slice(0, -1), node: step.container as ParsedNode };
    return replaceWith(manifest, around, isSeq(step.container) ? [] : {});
  }
  return step.container.flow === true ? removeInFlow(text, step) : removeLines(text, step);
}

function removeLines(text: string, step: Step): string {
  const start = startOf(step);
  const node = step.kind === "pair" ? step.pair.value : itemOf(step, step.index);
  const end =
    step.kind === "pair" ? endOfPair(step.pair) : Math.max(start + 1, node ? endOf(node) : 0);
  const line = lineStart(text, start);
  const after = lineEnd(text, end);
  if (text.slice(line, start).trim() === "") return cut(text, line, after);
  // The first key behind a dash: the next one takes its place.
  const next = after + (/^\s*/.exec(text.slice(after))?.[0].length ?? 0);
  return cut(text, start, next);
}

function itemOf(step: Step, index: number): ParsedNode | null {
  if (step.kind !== "item") return null;
  return step.container.items[index] ?? null;
}

function removeInFlow(text: string, step: Step): string {
  const spans = spansOf(step);
  const index = step.kind === "item" ? step.index : step.container.items.indexOf(step.pair);
  const [from, to] = spans[index] ?? [0, 0];
  const next = spans[index + 1];
  if (next) return cut(text, from, next[0]);
  const previous = spans[index - 1];
  if (previous) return cut(text, previous[1], to);
  const comma = /^\s*,/.exec(text.slice(to))?.[0].length ?? 0;
  return cut(text, from, to + comma);
}

function spansOf(step: Step): [number, number][] {
  if (step.kind === "pair") {
    const pairs = step.container.items as PairNode[];
    return pairs.map((pair) => [pair.key.range[0], endOfPair(pair)]);
  }
  return step.container.items.map((node) => [node.range[0], node.range[1]]);
}

/** The "-" of an item of a list in lines. */
function dashOf(step: Step): number {
  if (step.kind !== "item") return 0;
  const token = step.container.srcToken;
  if (!token || !("items" in token)) return itemOf(step, step.index)?.range[0] ?? 0;
  const dashes = token.items.flatMap((item) =>
    item.start.filter((one) => one.type === "seq-item-ind"),
  );
  return dashes[step.index]?.offset ?? itemOf(step, step.index)?.range[0] ?? 0;
}
