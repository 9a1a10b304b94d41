// Names of jobs: how long one may be, and what to propose.

import type { JobKind } from "../../../api/types";
import type { Json } from "../manifest/path";
import { schemaAt } from "../schema/lookup";
import { presentRoles, replicasOf } from "./roles";

// A pod is NAME-ROLE-N, and its name is that of its host, too.
const DNS_LABEL_MAX = 63;
const NAME_PATTERN = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** With the roles that the job has now. */
export function nameLengthMax(kind: JobKind, value: Json): number {
  let max = schemaAt(kind, ["metadata", "name"])?.maxLength ?? DNS_LABEL_MAX;
  for (const place of presentRoles(kind, value)) {
    const replicas = replicasOf(place);
    if (replicas < 1) continue;
    const ending = `-${place.role}-${Math.floor(replicas) - 1}`;
    max = Math.min(max, DNS_LABEL_MAX - ending.length);
  }
  return max;
}

/** The nearest name that is one: "My Job_1" → "my-job-1". Empty: there is none. */
export function nameLike(text: string, max: number): string {
  const clean = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, max)
    .replace(/-+$/, "");
  return NAME_PATTERN.test(clean) ? clean : "";
}

/** "mnist" → "mnist-2" → "mnist-3": for a copy, or where the name is taken. */
export function nextName(name: string, max: number): string {
  const numbered = /^(.*[^-0-9])-(\d{1,6})$/.exec(name);
  const base = numbered?.[1] ?? name;
  const ending = `-${numbered ? Number(numbered[2]) + 1 : 2}`;
  return base.slice(0, max - ending.length).replace(/-+$/, "") + ending;
}

/** The first of them that no job has. */
export function freeName(name: string, max: number, taken: ReadonlySet<string>): string {
  let next = nextName(name, max);
  while (taken.has(next)) next = nextName(next, max);
  return next;
}
