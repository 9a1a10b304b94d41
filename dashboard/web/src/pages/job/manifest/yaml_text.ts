// An object of the cluster as YAML that every reader takes for the same object again.
//
//   download(`${name}.yaml`, yamlOf(object));

import { stringify } from "yaml";
import type { KubeObject } from "../../../api/types";

/** Keys stay in the order of the API server, so that the same object gives the same bytes. */
export function yamlOf(value: unknown): string {
  return stringify(value, {
    // Folded lines come back the same, but a person who copies one of them gets half of it.
    lineWidth: 0,
    // An alias is for machines.
    aliasDuplicateObjects: false,
    // kubectl reads YAML 1.1, to which an unquoted "yes" is a boolean.
    compat: "yaml-1.1",
  });
}

// What programs keep in an object for themselves: thousands of letters, in lines that run out of
// sight, of which nobody has written one.
const KEPT = ["taas.dev/ledger", "kubectl.kubernetes.io/last-applied-configuration"];

type Fields = Record<string, unknown>;

function without(fields: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
}

/** The object as people write it; the same one if there is nothing to leave out. */
export function withoutKept(object: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  const has = typeof annotations === "object" && annotations !== null;
  const left = has ? without(annotations as Fields, KEPT) : {};
  const fewer = has && Object.keys(left).length < Object.keys(annotations).length;
  if (!fewer && object.metadata.managedFields === undefined) return object;
  const emptied = fewer && Object.keys(left).length === 0;
  const metadata = without(object.metadata, [
    "managedFields",
    ...(emptied ? ["annotations"] : []),
  ]) as KubeObject["metadata"];
  if (fewer && !emptied) metadata.annotations = left;
  return { ...object, metadata };
}

export type Part = "manifest" | "status";

/** undefined: the object has no status yet. */
export function partOf(object: KubeObject, part: Part): unknown {
  if (part === "status") return object.status;
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== "status"));
}
