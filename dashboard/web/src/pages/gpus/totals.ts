// Sums over nodes. Held (allocated) and used are two different things and are never mixed: one is a
// share of the GPUs that there are, the other an average over those that somebody measures.

import type { GpuHolder } from "../../api/types";
import type { NodeCells } from "./cells";

export interface Totals {
  nodes: number;
  /** Of nodes whose capacity is known. */
  gpus: number;
  allocated: number;
  free: number;
  usable: number;
  unavailable: number;
  idle: number;
  measured: number;
  /** 0 … 1, on the average of those that are measured; absent: none is. */
  used?: number;
  /** How many nodes have so many free GPUs, the largest number first. */
  blocks: { size: number; nodes: number }[];
}

export function totalsOf(nodes: readonly NodeCells[]): Totals {
  const totals: Totals = {
    nodes: nodes.length,
    gpus: 0,
    allocated: 0,
    free: 0,
    usable: 0,
    unavailable: 0,
    idle: 0,
    measured: 0,
    blocks: [],
  };
  let used = 0;
  const blocks = new Map<number, number>();
  for (const one of nodes) {
    const capacity = one.node.capacity ?? 0;
    totals.gpus += Math.max(capacity, one.node.capacity === undefined ? one.held : 0);
    totals.allocated += one.held + one.hidden;
    totals.free += one.free;
    totals.usable += one.usable;
    totals.unavailable += one.unavailable;
    totals.idle += one.idle;
    if (one.usable > 0) blocks.set(one.usable, (blocks.get(one.usable) ?? 0) + 1);
    for (const { utilization } of one.node.devices) {
      if (utilization === undefined) continue;
      used += utilization;
      totals.measured += 1;
    }
  }
  if (totals.measured > 0) totals.used = used / totals.measured;
  totals.blocks = [...blocks]
    .map(([size, count]) => ({ size, nodes: count }))
    .sort((a, b) => b.size - a.size);
  return totals;
}

export function gpusOf(holders: readonly GpuHolder[]): number {
  return holders.reduce((sum, holder) => sum + holder.count, 0);
}
