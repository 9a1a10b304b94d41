// What the schema says of one place in a manifest.

import type { JobKind } from "../../../api/types";
import type { Json, Path } from "../manifest/path";
import type { SchemaNode } from "./schema";
import { kindOf, METADATA_FIELDS, SCHEMAS } from "./schema";

const TOP: SchemaNode = { type: "string" };

/** Of the object as a whole: the CRD's, and what every object has. */
export function rootOf(kind: JobKind): SchemaNode {
  const { schema } = SCHEMAS[kind];
  const own = schema.properties ?? {};
  const metadata: SchemaNode = {
    type: "object",
    properties: { ...METADATA_FIELDS, ...own.metadata?.properties },
  };
  return { ...schema, properties: { apiVersion: TOP, kind: TOP, ...own, metadata } };
}

export function schemaAt(kind: JobKind, path: Path): SchemaNode | undefined {
  let at: SchemaNode | undefined = rootOf(kind);
  for (const key of path) {
    if (typeof key === "number") at = at?.items;
    else if (Object.hasOwn(at?.properties ?? {}, key)) at = at?.properties?.[key];
    else at = at?.additionalProperties;
  }
  return at;
}

/** It must be there, or what it is in is nothing. */
export function isNeeded(kind: JobKind, path: Path): boolean {
  const name = path.at(-1);
  if (path.length === 2 && path[0] === "metadata") return name === "name";
  const around = schemaAt(kind, path.slice(0, -1));
  return typeof name === "string" && (around?.required?.includes(name) ?? false);
}

// Where the schema has no order of its own, because it takes any field.
const CONTAINER = [
  "name",
  "image",
  "command",
  "args",
  "env",
  "envFrom",
  "ports",
  "resources",
  "volumeMounts",
];
const METADATA = ["name", "generateName", "namespace", "labels", "annotations"];

/** Names of the fields there, in the order in which people write them. */
export function orderOf(value: Json, path: Path): string[] {
  if (path.at(-2) === "containers") return CONTAINER;
  const kind = kindOf(value);
  if (!kind) return [];
  if (path.length === 0) return ["apiVersion", "kind", "metadata", "spec"];
  if (path.length === 1 && path[0] === "metadata") return METADATA;
  const { properties } = schemaAt(kind, path) ?? {};
  return Object.keys(properties ?? {});
}
