// Which tags stand together: what is of one layer, and of that a variable beside its gradient.
//
//   hidden1: hidden1/weights, gradients/hidden1/weights, hidden1/biases, …

import type { HistogramTag } from "../../../api/types";

export interface Group {
  /** "": at the top, beside all layers. */
  layer: string;
  tags: HistogramTag[];
}

const BEFORE = /^gradients?\//;
const AFTER = /\/gradients?$/;

function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf("/")));
}

/** The variable that a tag is about: a gradient's own, or a slot's, as hidden1/weights/Adam has. */
export function variableOf(tag: string, all: ReadonlySet<string>): string {
  const plain = tag.replace(BEFORE, "").replace(AFTER, "");
  const parent = parentOf(plain);
  return all.has(parent) ? parent : plain;
}

export function compareNames(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true }) || (a < b ? -1 : a > b ? 1 : 0);
}

/** In order of name; what is of no layer comes last. */
export function groupsOf(tags: readonly HistogramTag[]): Group[] {
  const all = new Set(tags.map(({ tag }) => tag));
  const groups = new Map<string, { variable: string; tag: HistogramTag }[]>();
  for (const tag of tags) {
    const variable = variableOf(tag.tag, all);
    const layer = parentOf(variable);
    const group = groups.get(layer) ?? [];
    group.push({ variable, tag });
    groups.set(layer, group);
  }
  // The variable itself before what is derived of it.
  const derived = (one: { variable: string; tag: HistogramTag }): number =>
    one.tag.tag === one.variable ? 0 : 1;
  return [...groups]
    .sort(([a], [b]) => Number(a === "") - Number(b === "") || compareNames(a, b))
    .map(([layer, members]) => ({
      layer,
      tags: members
        .sort(
          (a, b) =>
            compareNames(a.variable, b.variable) ||
            derived(a) - derived(b) ||
            compareNames(a.tag.tag, b.tag.tag),
        )
        .map(({ tag }) => tag),
    }));
}

const TOP = ".";

/** The top, where the training itself writes, first. */
export function runsOf(tags: readonly HistogramTag[]): string[] {
  const place = (run: string): number => (run === TOP ? 0 : 1);
  return [...new Set(tags.map(({ run }) => run))].sort(
    (a, b) => place(a) - place(b) || compareNames(a, b),
  );
}
