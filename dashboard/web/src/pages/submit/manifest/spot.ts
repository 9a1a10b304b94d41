// From a path to its place in the text of a manifest.
//
//   const spot = findSpot(manifest, ["spec", "roles", "ps"]);
//   spot.rest.length === 0;   // All of the path is there; else `rest` lacks.

import type { Pair, ParsedNode, YAMLMap, YAMLSeq } from "yaml";
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import type { Key, Path } from "./path";
import type { Manifest, ManifestDocument, TextPosition } from "./read";
import { positionOf } from "./read";

export type MapNode = YAMLMap.Parsed;
export type SeqNode = YAMLSeq.Parsed;
export type PairNode = Pair<ParsedNode, ParsedNode | null>;

export type Step =
  | { kind: "pair"; container: MapNode; pair: PairNode }
  | { kind: "item"; container: SeqNode; index: number };

export interface Spot {
  /** From the root down to `node`. */
  steps: Step[];
  node: ParsedNode | null;
  /** Of the path, what is not written below `node`. */
  rest: Path;
}

/**
 * shared: follows aliases to what they stand for; else an alias is as far as it goes, for what is
 * below it belongs to others, too.
 */
export function findSpot(doc: ManifestDocument, path: Path, shared = false): Spot {
  const steps: Step[] = [];
  let node: ParsedNode | null = doc.contents;
  for (const [index, key] of path.entries()) {
    if (shared && isAlias(node)) node = (node.resolve(doc) as ParsedNode | undefined) ?? node;
    const step = stepInto(node, key);
    if (!step) return { steps, node, rest: path.slice(index) };
    steps.push(step);
    node = nodeOf(step);
  }
  return { steps, node, rest: [] };
}

function stepInto(node: ParsedNode | null, key: Key): Step | undefined {
  if (isMap(node)) {
    const pair = (node.items as PairNode[]).find((one) => keyOf(one) === String(key));
    return pair && { kind: "pair", container: node, pair };
  }
  if (isSeq(node) && typeof key === "number" && key < node.items.length) {
    return { kind: "item", container: node, index: key };
  }
  return undefined;
}

export function nodeOf(step: Step): ParsedNode | null {
  if (step.kind === "pair") return step.pair.value;
  return step.container.items[step.index] ?? null;
}

export function keyOf(pair: PairNode): string {
  return isScalar(pair.key) ? String(pair.key.value) : "";
}

/** Where the content of a node ends: without blank lines and comments behind it. */
export function endOf(node: ParsedNode): number {
  if (isMap(node) && node.flow !== true) {
    const last = node.items.at(-1);
    return last ? endOfPair(last) : node.range[1];
  }
  if (isSeq(node) && node.flow !== true) {
    const last = node.items.at(-1);
    // A last "-" with nothing behind it has no content to end with.
    return last && !isEmpty(last) ? endOf(last) : node.range[1];
  }
  return node.range[1];
}

function isEmpty(node: ParsedNode): boolean {
  return isScalar(node) && node.range[0] === node.range[1];
}

export function endOfPair(pair: PairNode): number {
  const colon = colonEnd(pair);
  const end = pair.value ? endOf(pair.value) : pair.key.range[1];
  return Math.max(colon ?? 0, end);
}

/** Behind the ":" of a pair. */
export function colonEnd(pair: PairNode): number | undefined {
  const colon = pair.srcToken?.sep?.find((token) => token.type === "map-value-ind");
  return colon && colon.offset + 1;
}

/** Where in the text `path` is, or the nearest thing above it that is there. */
export function placeInText(manifest: Manifest, path: Path): TextPosition {
  const spot = findSpot(manifest.doc, path, true);
  const last = spot.steps.at(-1);
  // What lacks is shown at the key of what it lacks in.
  if (last?.kind === "pair") {
    const value = spot.rest.length === 0 ? pointOf(last.pair.value) : undefined;
    const [from, to] = value ?? pointOf(last.pair.key) ?? [0, 0];
    return positionOf(manifest.text, from, to);
  }
  if (!last) return positionOf(manifest.text, 0);
  // An item that has several lines is shown at its first.
  const [from, to] = spot.node?.range ?? [0, 0];
  const end = manifest.text.indexOf("\n", from);
  return positionOf(manifest.text, from, end < 0 ? to : Math.min(to, end));
}

/** The key itself: for a field that should not be there. */
export function keyInText(manifest: Manifest, path: Path): TextPosition {
  const spot = findSpot(manifest.doc, path, true);
  const last = spot.steps.at(-1);
  if (spot.rest.length > 0 || last?.kind !== "pair") return placeInText(manifest, path);
  const [from, to] = pointOf(last.pair.key) ?? [0, 0];
  return positionOf(manifest.text, from, to);
}

/** A scalar, or what stands in brackets on one line; of a block there is no one point. */
function pointOf(node: ParsedNode | null): [number, number] | undefined {
  if (!node) return undefined;
  const [from, to] = node.range;
  if (from === to) return undefined;
  if ((isMap(node) || isSeq(node)) && node.flow !== true) return undefined;
  return [from, to];
}
