// From the text of a manifest to its value, with the place of each part in the text.
//
// The text is the truth: nothing here or in edit.ts writes a manifest anew.
//
//   const reading = readManifest(text);
//   if (reading.ok) valueAt(reading.manifest.value, ["spec", "trainer"]);

import type { Document, ErrorCode, ParsedNode } from "yaml";
import { isAlias, LineCounter, parseAllDocuments, visit } from "yaml";
import type { Json } from "./path";
import { SCALARS } from "./scalars";

// As the server has it (kMaxManifestBytes, operator/api/manifest.h).
export const MANIFEST_BYTES_MAX = 3 << 20;
// Reading takes about 1 ms for 4 KB, at each key that is typed: more is left to the server.
export const READ_HERE_MAX = 128 * 1024;

export const READ_OPTIONS = {
  schema: "failsafe",
  customTags: SCALARS,
  merge: true,
  resolveKnownTags: false,
  keepSourceTokens: true,
  prettyErrors: false,
  logLevel: "silent",
} as const;

export type ManifestDocument = Document.Parsed<ParsedNode>;

export interface Manifest {
  text: string;
  doc: ManifestDocument;
  value: Json;
}

export interface TextPosition {
  from: number;
  to: number;
  /** From 1. */
  line: number;
  column: number;
}

export type TextProblemCode = ErrorCode | "TooLarge" | "SeveralDocuments" | "Unreadable";

export interface TextProblem extends TextPosition {
  code: TextProblemCode;
  /** English, of the reader. */
  message: string;
}

export type Reading = { ok: true; manifest: Manifest } | { ok: false; problems: TextProblem[] };

export function positionOf(text: string, from: number, to = from): TextPosition {
  const before = text.slice(0, from);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return { from, to: Math.max(from, to), line, column: from - lineStart + 1 };
}

export function readManifest(text: string): Reading {
  const fail = (code: TextProblemCode, message: string, from = 0, to = from): Reading => ({
    ok: false,
    problems: [{ code, message, ...positionOf(text, from, to) }],
  });
  if (text.length > READ_HERE_MAX) return fail("TooLarge", "");
  try {
    return readDocuments(text, fail);
  } catch (error) {
    // Aliases that repeat too much, or nesting that is too deep for the reader.
    return fail("Unreadable", error instanceof Error ? error.message : String(error));
  }
}

type Fail = (code: TextProblemCode, message: string, from?: number, to?: number) => Reading;

function readDocuments(text: string, fail: Fail): Reading {
  const lineCounter = new LineCounter();
  const all = parseAllDocuments<ParsedNode>(text, { ...READ_OPTIONS, lineCounter });
  const docs = Array.isArray(all) ? (all as ManifestDocument[]) : [];
  // A warning is of a tag that nobody knows: the server refuses it.
  const found = docs.flatMap((doc) => [...doc.errors, ...doc.warnings]);
  if (found.length > 0) {
    const problems = found.map(({ code, message, pos }) => ({
      code,
      message,
      ...positionOf(text, pos[0], pos[1]),
    }));
    return { ok: false, problems };
  }
  const [doc, second] = docs.filter((one) => one.contents !== null && !isNothing(one));
  if (second) return fail("SeveralDocuments", "", second.contents?.range[0]);
  if (!doc) return { ok: true, manifest: { text, doc: docs[0] ?? emptyDocument(), value: null } };
  const dangling = danglingAlias(doc);
  if (dangling) return fail("BAD_ALIAS", "", ...dangling);
  return { ok: true, manifest: { text, doc, value: jsonOf(doc) } };
}

function isNothing(doc: ManifestDocument): boolean {
  return (doc.contents as unknown as { value?: unknown }).value === null;
}

function emptyDocument(): ManifestDocument {
  return parseAllDocuments<ParsedNode>("null", READ_OPTIONS)[0] as ManifestDocument;
}

function danglingAlias(doc: ManifestDocument): [number, number] | undefined {
  let found: [number, number] | undefined;
  visit(doc, {
    Alias: (_, alias) => {
      if (alias.resolve(doc)) return undefined;
      found = [alias.range?.[0] ?? 0, alias.range?.[1] ?? 0];
      return visit.BREAK;
    },
  });
  return found;
}

/** The value of a document or of a part of it; throws where aliases repeat too much. */
export function jsonOf(doc: ManifestDocument, node: ParsedNode | null = doc.contents): Json {
  if (node === null) return null;
  const target = isAlias(node) ? node.resolve(doc) : node;
  return (target?.toJS(doc) ?? null) as Json;
}
