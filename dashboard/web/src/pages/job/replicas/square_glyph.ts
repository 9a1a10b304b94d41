// The picture of a replica's state: each with an outline of its own, so that states differ without
// colour.

import type { Replica } from "../../../api/types";
import type { GlyphName } from "../../../components/Glyph";

const GLYPHS: Record<Replica["state"], GlyphName> = {
  Missing: "unknown",
  Removed: "unknown",
  Pending: "pending",
  Running: "running",
  Waiting: "restarting",
  Succeeded: "succeeded",
  Failed: "failed",
  Unknown: "unknown",
  Terminating: "deleting",
};

/** In the order in which a legend names them. */
export const REPLICA_STATES = [
  "Failed",
  "Unknown",
  "Waiting",
  "Pending",
  "Terminating",
  "Running",
  "Succeeded",
  "Missing",
  "Removed",
] as const satisfies Replica["state"][];

/** A state that is newer than this page is unknown to it. */
export function knownState(state: Replica["state"]): Replica["state"] {
  return Object.hasOwn(GLYPHS, state) ? state : "Unknown";
}

export function squareGlyph(state: Replica["state"]): GlyphName {
  return GLYPHS[knownState(state)];
}

export function squareClass({ state, health }: Pick<Replica, "state" | "health">): string {
  const ring = health === "critical" || health === "warning" ? ` job-ring-${health}` : "";
  return `job-square job-square-${knownState(state).toLowerCase()}${ring}`;
}
