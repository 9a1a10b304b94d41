// Any manifest, in any style, and any change: the text is changed as it was meant, or, very rarely,
// not at all.

import { expect, test } from "vitest";
import { Document, isCollection, isScalar, visit } from "yaml";
import { applyOps, EditRefused } from "./edit";
import type { Op } from "./edit";
import type { Json, Path } from "./path";
import { isObject, sameValue, valueAt, withoutValue, withValue } from "./path";
import { READ_OPTIONS, readManifest } from "./read";

const ROUNDS = 400;
// It is one in some ten thousand.
const REFUSED_MAX = 3;

/** A generator of the same numbers for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = (below: number) => number;

const TEXTS = ["a", "yes", "1", "", "a: b", "# c", "two\nlines\n", " x", "0x1f", "- d", "{e}", "é"];
const KEYS = ["a", "b", "name", "nvidia.com/gpu", "c d", "yes", "9"];

function anyScalar(random: Random): Json {
  const values: Json[] = [random(1000), -1, 0.5, true, false, TEXTS[random(TEXTS.length)] ?? ""];
  return values[random(values.length)] ?? null;
}

function anyValue(random: Random, depth: number): Json {
  const sort = random(depth > 0 ? 4 : 2);
  if (sort < 2) return anyScalar(random);
  const size = random(4);
  if (sort === 2) return Array.from({ length: size }, () => anyValue(random, depth - 1));
  const entries = Array.from({ length: size }, (): [string, Json] => [
    KEYS[random(KEYS.length)] ?? "",
    anyValue(random, depth - 1),
  ]);
  return Object.fromEntries(entries);
}

/** In lines or in brackets, with comments and blank lines, quoted in one way or the other. */
function anyText(random: Random, value: Json): string {
  const doc = new Document(value, READ_OPTIONS);
  visit(doc, {
    Node: (_, node) => {
      if (isCollection(node)) node.flow = random(4) === 0;
      if (isScalar(node) && typeof node.value === "string" && random(3) === 0) {
        node.type = random(2) === 0 ? "QUOTE_DOUBLE" : "QUOTE_SINGLE";
      }
      if (random(5) === 0) node.comment = " of this";
      if (random(6) === 0) node.commentBefore = " before";
      if (random(6) === 0) node.spaceBefore = true;
    },
  });
  const text = doc.toString({ lineWidth: 0, indentSeq: random(2) === 0 });
  return random(4) === 0 ? text.replace(/\n$/, "") : text;
}

function anyPath(random: Random, value: Json): Path {
  const path: (string | number)[] = [];
  let at: Json | undefined = value;
  while (path.length === 0 || random(3) > 0) {
    const keys = Array.isArray(at) ? [...at.keys()] : isObject(at) ? Object.keys(at) : [];
    const key = keys[random(Math.max(keys.length, 1))];
    if (key === undefined) break;
    path.push(key);
    at = valueAt(at, [key]);
  }
  if (isObject(at) && random(3) === 0) path.push("fresh", "below");
  return path;
}

function anyOp(random: Random, value: Json): [Op, Json] {
  const path = anyPath(random, value);
  const old = valueAt(value, path);
  const next = anyValue(random, 2);
  const sort = random(3);
  if (sort === 0 && old !== undefined && path.length > 0) {
    return [{ remove: path }, withoutValue(value, path)];
  }
  if (sort === 1 && Array.isArray(old)) {
    return [{ add: path, value: next }, withValue(value, path, [...old, next])];
  }
  return [{ set: path, value: next }, withValue(value, path, next)];
}

function valueOf(text: string): Json {
  const reading = readManifest(text);
  return reading.ok ? reading.manifest.value : null;
}

test("every change of any manifest is made as it was meant", () => {
  const seed = Date.now() | 0;
  const random = randomOf(seed);
  let made = 0;
  const refused: string[] = [];
  for (let round = 0; round < ROUNDS; ++round) {
    const value = { root: anyValue(random, 3), last: 1 };
    const text = anyText(random, value);
    if (!sameValue(valueOf(text), value)) continue;
    const [op, wanted] = anyOp(random, value);
    const told = `seed ${seed}, round ${round}: ${JSON.stringify(op)} in\n${text}`;
    try {
      const after = valueOf(applyOps(text, [op]));
      expect(sameValue(after, wanted), told).toBe(true);
      made += 1;
    } catch (error) {
      if (!(error instanceof EditRefused)) throw new Error(told, { cause: error });
      refused.push(told);
    }
  }
  expect(made, `seed ${seed}`).toBeGreaterThan(ROUNDS / 2);
  // Such as a comment that a text in lines would swallow.
  expect(refused.length, refused.join("\n\n")).toBeLessThan(REFUSED_MAX);
});
