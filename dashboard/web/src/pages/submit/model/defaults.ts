// Of a stored job, without the defaults that the API server has put in: what its user wrote is in
// the annotation of `kubectl apply`, and only what is not in there is left out.

import type { JobKind } from "../../../api/types";
import type { Json, JsonObject, Path } from "../manifest/path";
import { isObject } from "../manifest/path";
import { schemaAt } from "../schema/lookup";

export const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** What was applied last; undefined: nobody knows. */
export function appliedOf(object: JsonObject): JsonObject | undefined {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const annotations = isObject(metadata.annotations) ? metadata.annotations : {};
  const text = annotations[APPLIED];
  if (typeof text !== "string") return undefined;
  try {
    const applied = JSON.parse(text) as Json;
    return isObject(applied) && isObject(applied.spec) ? applied : undefined;
  } catch {
    return undefined;
  }
}

export function withoutDefaults(kind: JobKind, spec: Json, applied: Json): Json {
  return pruned(kind, ["spec"], spec, applied);
}

function pruned(kind: JobKind, path: Path, value: Json, written: Json | undefined): Json {
  if (!isObject(value)) return value;
  const known = written !== undefined && isObject(written) ? written : {};
  const out: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const place = [...path, key];
    const wrote = Object.hasOwn(known, key);
    const kept = pruned(kind, place, member, known[key]);
    const fallback = schemaAt(kind, place)?.default;
    const isDefault = fallback !== undefined && same(kept, fallback);
    // A part of which nothing is left but what was put in.
    const emptied = isObject(kept) && Object.keys(kept).length === 0 && !same(member, kept);
    if (wrote || !(isDefault || emptied)) out[key] = kept;
  }
  return out;
}

function same(a: Json, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
