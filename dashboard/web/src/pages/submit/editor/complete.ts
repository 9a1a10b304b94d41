// Completion from the schema: fields where a key comes, values where one of a few comes.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { JobKind } from "../../../api/types";
import type { Key } from "../manifest/path";
import { textOf } from "../manifest/path";
import { schemaAt } from "../schema/lookup";
import type { SchemaNode } from "../schema/schema";
import { SCHEMAS } from "../schema/schema";
import type { CursorContext } from "./context";
import { contextAt } from "./context";

export function completionAt(
  kind: JobKind,
  text: string,
  position: number,
): { from: number; options: Completion[] } | undefined {
  const context = contextAt(text, position);
  if (!context) return undefined;
  const options =
    context.expects === "key" ? keyOptions(kind, context) : valueOptions(kind, context.path);
  return options.length > 0 ? { from: context.from, options } : undefined;
}

export function completeFrom(
  kindNow: () => JobKind,
): (context: CompletionContext) => CompletionResult | null {
  return ({ state, pos, explicit }) => {
    const found = completionAt(kindNow(), state.doc.toString(), pos);
    // Without being asked only where something has been begun.
    if (!found || (!explicit && found.from === pos)) return null;
    return { ...found, validFor: /^[\w-]*$/ };
  };
}

function keyOptions(kind: JobKind, { path, inFlow }: CursorContext): Completion[] {
  const { properties = {} } = schemaAt(kind, path) ?? {};
  return Object.entries(properties).map(([name, node]) => ({
    label: name,
    type: "property",
    detail: typeName(node),
    ...(node.description === undefined ? {} : { info: node.description }),
    apply: name + opening(node, inFlow),
  }));
}

function opening(node: SchemaNode, inFlow: boolean): string {
  const nested = node.type === "object" || node.type === "array";
  return nested && !inFlow ? ":" : ": ";
}

function typeName(node: SchemaNode): string {
  if (node["x-kubernetes-int-or-string"]) return "integer|string";
  return node.enum?.every((one) => one !== "")
    ? node.enum.map(textOf).join("|")
    : (node.type ?? "");
}

function valueOptions(kind: JobKind, path: readonly Key[]): Completion[] {
  return valuesAt(kind, path).map((value) => ({ label: value, type: "enum" }));
}

function valuesAt(kind: JobKind, path: readonly Key[]): string[] {
  if (path.length === 1 && path[0] === "kind") return Object.keys(SCHEMAS);
  if (path.length === 1 && path[0] === "apiVersion") return [SCHEMAS[kind].apiVersion];
  const node = schemaAt(kind, path);
  if (node?.type === "boolean") return ["true", "false"];
  return (node?.enum ?? []).filter((value) => value !== "").map(textOf);
}
