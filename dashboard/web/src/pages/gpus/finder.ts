// Where so many workers with so many GPUs each have room now, or else when: a worker is on one
// node, a job on nodes of one product. It looks at GPUs only; processors, memory, taints and quota
// are the scheduler's business.

import { jobKey } from "../../api/paths";
import type { GpuHolder } from "../../api/types";
import type { NodeCells } from "./cells";

export interface Wish {
  workers: number;
  /** Of each worker. */
  gpus: number;
  /** "": any. */
  product: string;
}

export interface Place {
  node: string;
  workers: number;
}

export interface Wait {
  /** Until the last of these jobs is done, as their trainers expect it. */
  seconds: number;
  jobs: NonNullable<GpuHolder["job"]>[];
}

export interface Finding {
  product: string;
  /** Workers that fit now, no more than are wished for. */
  fits: number;
  places: Place[];
  /** Free GPUs of the node that has most. */
  largest: number;
  /** GPUs of the largest node, held or not: less than a worker needs means never. */
  nodeSize: number;
  /** It fits when those have ended; absent: it fits now, or nobody knows. */
  wait?: Wait;
  /** It would fit now if nothing were held for nothing. */
  fitsWithoutIdle: boolean;
}

/** The best answer first: what fits, then what fits soonest, then what fits most. */
export function find(
  nodes: readonly NodeCells[],
  wish: Wish,
  etaOf: (job: string) => number | undefined,
): Finding[] {
  const products = new Map<string, NodeCells[]>();
  for (const one of nodes) {
    const { product, ready, schedulable, capacity } = one.node;
    if (!ready || !schedulable || capacity === undefined) continue;
    if (wish.product !== "" && product !== wish.product) continue;
    products.set(product, [...(products.get(product) ?? []), one]);
  }
  const findings = [...products].map(([product, of]) => findIn(product, of, wish, etaOf));
  return findings.sort(
    (a, b) =>
      b.fits - a.fits ||
      (a.wait?.seconds ?? Infinity) - (b.wait?.seconds ?? Infinity) ||
      a.product.localeCompare(b.product),
  );
}

function findIn(
  product: string,
  nodes: readonly NodeCells[],
  wish: Wish,
  etaOf: (job: string) => number | undefined,
): Finding {
  const places = place(nodes, wish);
  const fits = places.reduce((sum, one) => sum + one.workers, 0);
  const finding: Finding = {
    product,
    fits,
    places,
    largest: Math.max(0, ...nodes.map((one) => one.usable)),
    nodeSize: Math.max(0, ...nodes.map((one) => one.node.allocatable ?? one.node.capacity ?? 0)),
    fitsWithoutIdle: false,
  };
  if (fits >= wish.workers) return finding;
  const wait = soonest(nodes, wish, etaOf);
  if (wait) finding.wait = wait;
  finding.fitsWithoutIdle = slots(nodes, wish.gpus, (one) => one.usable + one.idle) >= wish.workers;
  return finding;
}

function slots(
  nodes: readonly NodeCells[],
  gpus: number,
  free: (one: NodeCells) => number,
): number {
  return nodes.reduce((sum, one) => sum + Math.floor(free(one) / gpus), 0);
}

/** On as few nodes as can be; of equal ones on the fullest, so that large blocks stay whole. */
function place(nodes: readonly NodeCells[], wish: Wish): Place[] {
  const room = nodes
    .map((one) => ({ one, workers: Math.floor(one.usable / wish.gpus) }))
    .filter(({ workers }) => workers > 0)
    .sort((a, b) => b.workers - a.workers || byName(a.one, b.one));
  const places: Place[] = [];
  let left = wish.workers;
  // One node that takes all that is left: the one that is left the fullest.
  const enough = (): (typeof room)[number] | undefined =>
    room
      .filter(({ workers }) => workers >= left)
      .sort((a, b) => a.one.usable - b.one.usable || byName(a.one, b.one))[0];
  while (left > 0) {
    const next = enough() ?? room[0];
    if (!next) break;
    const workers = Math.min(left, next.workers);
    places.push({ node: next.one.node.name, workers });
    left -= workers;
    room.splice(room.indexOf(next), 1);
  }
  return places;
}

function byName(a: NodeCells, b: NodeCells): number {
  return a.node.name.localeCompare(b.node.name);
}

function soonest(
  nodes: readonly NodeCells[],
  wish: Wish,
  etaOf: (job: string) => number | undefined,
): Wait | undefined {
  const frees: { at: number; node: NodeCells; holder: GpuHolder }[] = [];
  for (const node of nodes) {
    for (const holder of node.node.holders) {
      const at = holder.job && etaOf(jobKey(holder.job));
      if (at !== undefined) frees.push({ at, node, holder });
    }
  }
  frees.sort((a, b) => a.at - b.at);
  const free = new Map(nodes.map((one) => [one, one.usable]));
  let fits = slots(nodes, wish.gpus, (one) => one.usable);
  const jobs = new Map<string, NonNullable<GpuHolder["job"]>>();
  for (const { at, node, holder } of frees) {
    const before = free.get(node) ?? 0;
    const after = before + holder.count;
    free.set(node, after);
    fits += Math.floor(after / wish.gpus) - Math.floor(before / wish.gpus);
    if (holder.job) jobs.set(jobKey(holder.job), holder.job);
    if (fits >= wish.workers) return { seconds: at, jobs: [...jobs.values()] };
  }
  return undefined;
}
