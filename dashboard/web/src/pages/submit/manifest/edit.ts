// Changes one value of a manifest and leaves every other byte of its text as it is: comments,
// order, quotes and blank lines stay.
//
// What is written once and used twice (anchors, aliases, merged keys) is taken apart first where
// only one of the users is to change. Each result is read back and compared with what was wanted:
// a text that this does not understand is refused, never spoilt.
//
//   applyOps(text, [{ set: ["spec", "roles", "worker", "replicas"], value: 4 }]);
//   applyOps(text, [{ remove: ["spec", "schedulingPolicy", "queue"], keep: 1 }]);

import type { Alias } from "yaml";
import { visit } from "yaml";
import type { Json, Path } from "./path";
import { sameValue, valueAt, withoutValue, withValue } from "./path";
import type { Manifest } from "./read";
import { readManifest } from "./read";
import { findSpot } from "./spot";
import type { Spot, Step } from "./spot";
import { addItem, removeStep, replaceWith, setAt } from "./splice";

export type Op =
  /** shared: also for those that say the same by an alias. */
  | { set: Path; value: Json; shared?: boolean }
  /** What becomes empty by it goes, too, but for the first `keep` keys of the path. */
  | { remove: Path; keep?: number; shared?: boolean }
  /** To the end of a list, which is made if it lacks. */
  | { add: Path; value: Json; shared?: boolean };

/** The text is such that this change cannot be made in it without spoiling it. */
export class EditRefused extends Error {
  readonly path: Path;

  constructor(path: Path) {
    super("this part of the YAML cannot be changed by the form");
    this.name = "EditRefused";
    this.path = path;
  }
}

// Each round takes one alias apart; a manifest with more of them is not ours to edit.
const ALIASES_MAX = 100;

export function applyOps(text: string, ops: readonly Op[]): string {
  return ops.reduce(applyOp, text);
}

function applyOp(text: string, op: Op): string {
  const path = "set" in op ? op.set : "remove" in op ? op.remove : op.add;
  const before = read(text, path);
  if ("remove" in op && valueAt(before.value, path) === undefined) return text;
  const own = op.shared ? before : takenApart(before, path, !("add" in op));
  const after = read(edited(own, op), path);
  if (!isWanted(before.value, after.value, op)) throw new EditRefused(path);
  return after.text;
}

function read(text: string, path: Path): Manifest {
  const reading = readManifest(text);
  if (!reading.ok) throw new EditRefused(path);
  return reading.manifest;
}

function edited(manifest: Manifest, op: Op): string {
  const { doc, value } = manifest;
  if ("set" in op) {
    return setAt(manifest, findSpot(doc, op.set, op.shared), op.value);
  }
  if ("add" in op) {
    const spot = findSpot(doc, op.add, op.shared);
    const list = valueAt(value, op.add);
    if (!Array.isArray(list)) return setAt(manifest, spot, [op.value]);
    return addItem(manifest, spot, list, op.value);
  }
  const path = emptied(value, op.remove, op.keep ?? op.remove.length - 1);
  const spot = findSpot(doc, path, op.shared);
  if (spot.rest.length === 0) return removeStep(manifest, spot);
  // Below an alias: it is replaced by what it stands for, without this. Of a mapping into which
  // this was merged the same cannot be said.
  const at = path.slice(0, path.length - spot.rest.length);
  const whole = valueAt(value, at);
  return replaceWith(manifest, spot, withoutValue(whole ?? null, spot.rest));
}

/** The outermost thing that has nothing in it any more when `path` goes. */
function emptied(value: Json, path: Path, keep: number): Path {
  let out = path;
  while (out.length - 1 > keep) {
    const around = valueAt(value, out.slice(0, -1));
    const members = typeof around === "object" && around !== null ? Object.keys(around).length : 0;
    if (members !== 1) break;
    out = out.slice(0, -1);
  }
  return out;
}

function isWanted(before: Json, after: Json, op: Op): boolean {
  const path = "set" in op ? op.set : "remove" in op ? op.remove : op.add;
  if ("remove" in op) {
    if (valueAt(after, path) !== undefined && typeof path.at(-1) !== "number") return false;
    if (op.shared) return true;
    const out = emptied(before, path, op.keep ?? path.length - 1);
    return sameValue(after, withoutValue(before, out));
  }
  const old = valueAt(before, path);
  const value = "set" in op ? op.value : [...(Array.isArray(old) ? old : []), op.value];
  return op.shared
    ? sameValue(valueAt(after, path), value)
    : sameValue(after, withValue(before, path, value));
}

/**
 * With copies in place of the aliases that stand for what `path` goes through, and for what is
 * inside of what it names, if that goes (`whole`).
 */
function takenApart(manifest: Manifest, path: Path, whole: boolean): Manifest {
  let now = manifest;
  for (let round = 0; round < ALIASES_MAX; ++round) {
    const alias = aliasOfWay(now, findSpot(now.doc, path), whole);
    if (!alias) return now;
    now = read(replaceWith(now, alias.spot, alias.value), path);
  }
  throw new EditRefused(path);
}

interface AliasSpot {
  spot: Spot;
  value: Json;
}

function aliasOfWay({ doc }: Manifest, spot: Spot, whole: boolean): AliasSpot | undefined {
  const way = new Set<unknown>([spot.node]);
  for (const step of spot.steps) way.add(step.container);
  if (whole && spot.rest.length === 0) visit(spot.node, { Node: (_, node) => void way.add(node) });
  let found: AliasSpot | undefined;
  visit(doc, {
    Alias: (key, alias, ancestors) => {
      const source = alias.resolve(doc);
      if (!source || !way.has(source)) return undefined;
      const steps = stepsOf([...ancestors, alias], key);
      found = {
        spot: { steps, node: alias as Alias.Parsed, rest: [] },
        value: source.toJS(doc) as Json,
      };
      return visit.BREAK;
    },
  });
  return found;
}

/** Of the visitor's ancestors: the document, and in turns collections and pairs. */
function stepsOf(nodes: readonly unknown[], key: number | "key" | "value" | null): Step[] {
  const steps: Step[] = [];
  for (const [index, node] of nodes.entries()) {
    if (typeof node !== "object" || node === null || !("items" in node)) continue;
    const next = nodes[index + 1];
    const items = node.items as unknown[];
    if (items.length > 0 && next !== undefined) {
      const at = items.indexOf(next);
      const container = node as never;
      if (typeof next === "object" && next !== null && "key" in next) {
        steps.push({ kind: "pair", container, pair: next as never });
      } else {
        steps.push({ kind: "item", container, index: at < 0 ? Number(key) : at });
      }
    }
  }
  return steps;
}
