// What is wrong with a manifest by its schema, as an API server would find with strict validation;
// rules in CEL apart, which only the server runs.
//
// The twin of operator/api/schema_check.cc and crd_schema.cc. What is found is a code and its
// values: the words are the language's (i18n submit.issue).
//
//   const issues = checkManifest("TrainingJob", manifest.value);

import type { JobKind } from "../../../api/types";
import type { Json, JsonObject, Path } from "../manifest/path";
import { isObject, sameValue } from "../manifest/path";
import { rootOf } from "./lookup";
import type { SchemaNode } from "./schema";
import { SCHEMAS } from "./schema";

export type Finding =
  | { code: "unknownField"; name: string }
  | { code: "required" }
  | { code: "type"; wanted: string }
  | { code: "oneOf"; values: Json[] }
  | { code: "atLeast" | "above" | "atMost" | "below"; bound: number }
  | { code: "shorter" | "longer" | "fewer" | "more"; bound: number }
  | { code: "pattern"; pattern: string }
  | { code: "time" }
  | { code: "twice" };

export interface SchemaIssue {
  path: Path;
  finding: Finding;
}

export function checkManifest(kind: JobKind, value: Json): SchemaIssue[] {
  const check = new Check();
  if (!isObject(value)) return [{ path: [], finding: { code: "type", wanted: "object" } }];
  check.value(rootOf(kind), withoutStatus(value), []);
  const { apiVersion } = SCHEMAS[kind];
  if (value.apiVersion !== apiVersion) {
    check.add(["apiVersion"], { code: "oneOf", values: [apiVersion] });
  }
  const metadata = isObject(value.metadata) ? value.metadata : {};
  const named = [metadata.name, metadata.generateName].some((name) => name && name !== "");
  if (!named) check.add(["metadata", "name"], { code: "required" });
  return check.issues;
}

/** A server drops it when an object is made. */
function withoutStatus(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== "status"));
}

// Longer lists of problems help nobody.
const ISSUES_MAX = 200;

class Check {
  readonly issues: SchemaIssue[] = [];

  add(path: Path, finding: Finding): void {
    if (this.issues.length < ISSUES_MAX) this.issues.push({ path, finding });
  }

  value(node: SchemaNode, value: Json, path: Path): void {
    if (value === null && node.nullable) return;
    const wanted = wantedType(node);
    if (wanted && !wanted.split("|").some((type) => hasType(value, type))) {
      this.add(path, { code: "type", wanted });
      return;
    }
    const { enum: values } = node;
    if (values && !values.some((one) => sameValue(one, value))) {
      this.add(path, { code: "oneOf", values });
    }
    if (typeof value === "number") this.#number(node, value, path);
    else if (typeof value === "string") this.#text(node, value, path);
    else if (Array.isArray(value)) this.#list(node, value, path);
    else if (isObject(value)) this.#object(node, value, path);
  }

  #number(node: SchemaNode, value: number, path: Path): void {
    const { minimum, maximum } = node;
    if (minimum !== undefined && (node.exclusiveMinimum ? value <= minimum : value < minimum)) {
      this.add(path, { code: node.exclusiveMinimum ? "above" : "atLeast", bound: minimum });
    }
    if (maximum !== undefined && (node.exclusiveMaximum ? value >= maximum : value > maximum)) {
      this.add(path, { code: node.exclusiveMaximum ? "below" : "atMost", bound: maximum });
    }
  }

  /** One thing that is wrong with a text; patterns are matched on bounded texts only. */
  #text(node: SchemaNode, value: string, path: Path): void {
    const length = [...value].length;
    if (node.minLength !== undefined && length < node.minLength) {
      // A text that must not be empty is one that must be given.
      if (length === 0) this.add(path, { code: "required" });
      else this.add(path, { code: "shorter", bound: node.minLength });
    } else if (node.maxLength !== undefined && length > node.maxLength) {
      this.add(path, { code: "longer", bound: node.maxLength });
    } else if (node.pattern !== undefined && !new RegExp(node.pattern).test(value)) {
      this.add(path, { code: "pattern", pattern: node.pattern });
    } else if (node.format === "date-time" && !TIME.test(value)) {
      this.add(path, { code: "time" });
    }
  }

  #list(node: SchemaNode, value: Json[], path: Path): void {
    if (node.minItems !== undefined && value.length < node.minItems) {
      this.add(path, { code: "fewer", bound: node.minItems });
    }
    if (node.maxItems !== undefined && value.length > node.maxItems) {
      this.add(path, { code: "more", bound: node.maxItems });
      return;
    }
    const { items } = node;
    if (items)
      for (const [index, item] of value.entries()) this.value(items, item, [...path, index]);
    this.#unique(node, value, path);
  }

  #unique(node: SchemaNode, value: Json[], path: Path): void {
    const type = node["x-kubernetes-list-type"];
    if (type !== "set" && type !== "map") return;
    const keys = node["x-kubernetes-list-map-keys"] ?? [];
    const seen = new Set<string>();
    for (const [index, item] of value.entries()) {
      if (type === "map" && !isObject(item)) continue;
      const parts = isObject(item) && type === "map" ? keys.map((key) => item[key] ?? null) : item;
      const key = JSON.stringify(parts);
      if (seen.has(key)) this.add([...path, index], { code: "twice" });
      seen.add(key);
    }
  }

  #object(node: SchemaNode, value: JsonObject, path: Path): void {
    const { properties = {}, additionalProperties } = node;
    const count = Object.keys(value).length;
    if (node.minProperties !== undefined && count < node.minProperties) {
      this.add(path, { code: "fewer", bound: node.minProperties });
    }
    if (node.maxProperties !== undefined && count > node.maxProperties) {
      this.add(path, { code: "more", bound: node.maxProperties });
    }
    for (const name of node.required ?? []) {
      if (isAbsent(properties[name], value, name)) this.add([...path, name], { code: "required" });
    }
    for (const [name, member] of Object.entries(value)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const child = known ?? additionalProperties;
      if (child) {
        if (member !== null || child.nullable) this.value(child, member, [...path, name]);
      } else if (!isOpen(node)) {
        this.add([...path, name], { code: "unknownField", name });
      }
    }
  }
}

/** null stands for nothing, but where the schema says that it is a value. */
function isAbsent(node: SchemaNode | undefined, value: JsonObject, name: string): boolean {
  return !Object.hasOwn(value, name) || (value[name] === null && !node?.nullable);
}

/** Where any field may stand: also in what has no more said of it than its type. */
function isOpen(node: SchemaNode): boolean {
  if (node["x-kubernetes-preserve-unknown-fields"]) return true;
  return node.type === undefined;
}

function wantedType(node: SchemaNode): string | undefined {
  return node["x-kubernetes-int-or-string"] ? "integer|string" : node.type;
}

function hasType(value: Json, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[-+]\d\d:\d\d)$/;
