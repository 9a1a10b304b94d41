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

export type Part = "manifest" | "status";

/** undefined: the object has no status yet. */
export function partOf(object: KubeObject, part: Part): unknown {
  if (part === "status") return object.status;
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== "status"));
}
