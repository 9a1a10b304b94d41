// Which replicas stand out: those of one state, or of one health. The others grow pale in the grid
// and are left out of the table.

import type { Health, Replica } from "../../../api/types";

export type Mark =
  | { by: "state"; state: Replica["state"] }
  | { by: "health"; health: Health }
  | undefined;

export function isMarked(replica: Replica, mark: Mark): boolean {
  if (!mark) return true;
  return mark.by === "state" ? replica.state === mark.state : replica.health === mark.health;
}

export function sameMark(a: Mark, b: Mark): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export interface Counts {
  states: Map<Replica["state"], number>;
  health: Map<Health, number>;
}

export function countReplicas(replicas: readonly Replica[]): Counts {
  const counts: Counts = { states: new Map(), health: new Map() };
  for (const { state, health } of replicas) {
    counts.states.set(state, (counts.states.get(state) ?? 0) + 1);
    counts.health.set(health, (counts.health.get(health) ?? 0) + 1);
  }
  return counts;
}
