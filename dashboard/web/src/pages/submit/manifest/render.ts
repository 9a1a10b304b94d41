// New YAML for what the form sets, in the style of what stands around it.

import type { Scalar as ScalarNode } from "yaml";
import { Document, isCollection, isMap, isScalar, Scalar, visit, YAMLMap } from "yaml";
import type { Json } from "./path";
import { isObject } from "./path";
import { READ_OPTIONS } from "./read";

// Lines are never folded: where a line breaks is the author's business.
const WRITE = {
  lineWidth: 0,
  minContentWidth: 0,
  flowCollectionPadding: false,
  doubleQuotedMinMultiLineLength: 1_000_000,
} as const;
// A mapping of scalars that fits beside its key is written in braces, where the manifest does so.
const BRACES_MAX = 72;

export interface Style {
  /** The manifest has short mappings in braces. */
  braces: boolean;
}

/** On one line, as between braces. */
export function inline(value: Json): string {
  const doc = new Document(value, READ_OPTIONS);
  visit(doc, {
    Collection: (_, node) => {
      node.flow = true;
    },
  });
  return doc.toString(WRITE).trimEnd();
}

/** In lines, the first without its indentation, the others with `indent`. */
export function block(value: Json, indent: number, style: Style): string {
  const doc = new Document(value, READ_OPTIONS);
  if (style.braces) {
    visit(doc, {
      Pair: (_, pair) => {
        if (isCollection(pair.value) && isShort(pair.value.toJS(doc) as Json)) {
          pair.value.flow = true;
        }
      },
    });
  }
  return shifted(doc.toString(WRITE), indent);
}

function isShort(value: Json): boolean {
  const members = isObject(value) ? Object.values(value) : value;
  if (!Array.isArray(members) || members.length === 0) return false;
  const scalars = members.every((one) => typeof one !== "object" || one === null);
  return scalars && inline(value).length <= BRACES_MAX;
}

/**
 * A scalar, or an empty list or mapping, in the place of `old`: quoted as that was, unless only the
 * old text needed it.
 */
export function scalar(
  value: Json,
  old: ScalarNode | undefined,
  place: { flow: boolean; indent: number },
): string {
  if (typeof value === "object" && value !== null) return inline(value);
  const node = new Scalar(value);
  const type = typeof value === "string" ? typeLike(value, old, place) : undefined;
  if (type) node.type = type;
  const doc = new Document(null, READ_OPTIONS);
  const map = new YAMLMap(doc.schema);
  map.flow = place.flow;
  map.set("k", node);
  doc.contents = map;
  const text = doc.toString(WRITE).replace(/\n$/, "");
  return place.flow
    ? text.slice("{k: ".length, -1)
    : shifted(text.slice("k: ".length), place.indent);
}

function typeLike(
  value: string,
  old: ScalarNode | undefined,
  place: { flow: boolean; indent: number },
): ScalarNode.Type | undefined {
  if (!old?.type || typeof old.value !== "string") return undefined;
  const quoted = old.type.startsWith("QUOTE_");
  const isPlain = (text: string): boolean => scalar(text, undefined, place) === text;
  if (quoted && isPlain(value) && !isPlain(old.value)) return undefined;
  if (old.type.startsWith("BLOCK_") && place.flow) return undefined;
  // A text of several lines in single quotes would take several lines.
  return old.type === "QUOTE_SINGLE" && value.includes("\n") ? "QUOTE_DOUBLE" : old.type;
}

function shifted(text: string, indent: number): string {
  const margin = " ".repeat(indent);
  return text.replace(/\n+$/, "").replaceAll(/\n(?=[^\n])/g, `\n${margin}`);
}

export function styleOf(doc: { contents: unknown }): Style {
  let braces = false;
  visit(doc.contents as Document, {
    Map: (_, map) => {
      if (!isMap(map) || map.flow !== true || map.items.length === 0) return undefined;
      braces = map.items.every((pair) => isScalar(pair.value));
      return braces ? visit.BREAK : undefined;
    },
  });
  return { braces };
}
