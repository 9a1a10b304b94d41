// Image, command and arguments of a job that brings its own program: one program, in all roles
// that have the same.

import type { JobKind } from "../../../api/types";
import type { Op } from "../manifest/edit";
import type { Json, Path } from "../manifest/path";
import { pathText, sameValue, valueAt } from "../manifest/path";
import type { Manifest } from "../manifest/read";
import { findSpot } from "../manifest/spot";
import { listOps } from "./lists";
import { containerPath, leadingRole, presentRoles } from "./roles";

/** Of the main container, as the leading role has it. */
export function programPath(kind: JobKind, value: Json, field: string): Path | undefined {
  const leader = leadingRole(kind, value);
  return leader && [...containerPath(kind, leader), field];
}

export function programValue(kind: JobKind, value: Json, field: string): Json | undefined {
  const path = programPath(kind, value, field);
  return path && valueAt(value, path);
}

/** Some role has another one: a change is for those that are like the leading role. */
export function differs(kind: JobKind, value: Json, field: string): boolean {
  const mine = programValue(kind, value, field);
  return presentRoles(kind, value).some(
    (place) => !sameValue(valueAt(value, [...containerPath(kind, place), field]), mine),
  );
}

// What a shell would read as more than words with spaces between them.
const SHELL = /["'\\`$&|;<>(){}*?~#]/;

/**
 * A command of which the first part, the name of the program, has a space: somebody wrote a command
 * line. `parts` is what was meant, where that is simple.
 */
export function commandLine(command: readonly string[]): { line: string; parts?: string[] } | null {
  const [line = "", ...rest] = command;
  if (!/\S\s/.test(line)) return null;
  if (SHELL.test(line)) return { line };
  return { line, parts: [...line.trim().split(/\s+/), ...rest] };
}

export function programOps(
  kind: JobKind,
  manifest: Manifest,
  field: string,
  next: string | string[],
): Op[] {
  const { value } = manifest;
  const mine = programValue(kind, value, field);
  const alike = presentRoles(kind, value)
    .map((place) => [...containerPath(kind, place), field])
    .filter((path) => sameValue(valueAt(value, path), mine));
  return distinct(manifest, alike).flatMap((path): Op[] => {
    if (Array.isArray(next)) return listOps(path, mine, next, true);
    return [{ set: path, value: next, shared: true }];
  });
}

/** Several paths may lead to one place in the text, by an alias: it must not be changed twice. */
function distinct({ doc }: Manifest, paths: Path[]): Path[] {
  const seen = new Map<unknown, Set<string>>();
  return paths.filter((path) => {
    const spot = findSpot(doc, path, true);
    const around = spot.rest.length > 0 ? spot.node : spot.steps.at(-1)?.container;
    const key = pathText(spot.rest.length > 0 ? spot.rest : path.slice(-1));
    const known = seen.get(around) ?? new Set();
    seen.set(around, known);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}
