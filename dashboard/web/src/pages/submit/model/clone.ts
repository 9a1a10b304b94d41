// A copy of a job as a new manifest: what its user wrote, and nothing that the cluster added.
//
//   const text = cloneText(manifest);   // As the API server has it; the copy is called name-2.

import { Document } from "yaml";
import type { Json, JsonObject } from "../manifest/path";
import { isObject, withValue } from "../manifest/path";
import { READ_OPTIONS } from "../manifest/read";
import { kindOf } from "../schema/schema";
import { APPLIED, appliedOf, withoutDefaults } from "./defaults";
import { freeName, nameLengthMax } from "./names";

// Written by the API server: the copy gets its own.
const SERVER_FIELDS = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
  "selfLink",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  // A copy belongs to nobody who would delete it with himself.
  "ownerReferences",
]);
// What an object gets when it is being deleted; others are their authors' business.
const DELETION_FINALIZERS = new Set(["foregroundDeletion", "orphan"]);
/** The operator's memory of a job (operator/api/job.h), and kubectl's. */
export const OTHERS_ANNOTATIONS = [
  "taas.dev/ledger",
  APPLIED,
];

/** taken: names of jobs of its namespace, which the copy does not get. */
export function cloneOf(object: JsonObject, taken: ReadonlySet<string> = new Set()): JsonObject {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const fields = Object.entries(object).filter(([field]) => field !== "status");
  const copy: JsonObject = { ...Object.fromEntries(fields), metadata: cloneMetadata(metadata) };
  const kind = kindOf(copy);
  const applied = appliedOf(object);
  if (kind && applied && copy.spec !== undefined) {
    copy.spec = withoutDefaults(kind, copy.spec, applied.spec ?? null);
  }
  const name = typeof metadata.name === "string" ? metadata.name : "";
  if (!kind || name === "") return copy;
  const next = freeName(name, nameLengthMax(kind, copy), taken);
  return withValue(copy, ["metadata", "name"], next) as JsonObject;
}

function cloneMetadata(metadata: JsonObject): JsonObject {
  const { name, namespace, labels, ...rest } = metadata;
  // The order in which people write them; what is absent stays so.
  const ordered = { name, namespace, labels, ...rest } as Record<string, Json | undefined>;
  const out: JsonObject = {};
  for (const [field, value] of Object.entries(ordered)) {
    if (value === undefined || SERVER_FIELDS.has(field)) continue;
    const kept = field === "annotations" ? usersAnnotations(value) : keptValue(field, value);
    if (kept !== undefined) out[field] = kept;
  }
  return out;
}

function keptValue(field: string, value: Json): Json | undefined {
  if (field !== "finalizers" || !Array.isArray(value)) return value;
  const kept = value.filter((one) => typeof one !== "string" || !DELETION_FINALIZERS.has(one));
  return kept.length > 0 ? kept : undefined;
}

function usersAnnotations(value: Json): Json | undefined {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !OTHERS_ANNOTATIONS.includes(key));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

const TOP = ["apiVersion", "kind", "metadata", "spec"];

export function cloneText(object: JsonObject, taken?: ReadonlySet<string>): string {
  const copy = cloneOf(object, taken);
  const keys = [...TOP, ...Object.keys(copy).filter((key) => !TOP.includes(key))];
  const entries = keys.filter((key) => copy[key] !== undefined).map((key) => [key, copy[key]]);
  return new Document(Object.fromEntries(entries), READ_OPTIONS).toString({ lineWidth: 0 });
}
