// A node as squares: one for each GPU that it has or that somebody holds on it. What the cluster
// does not say stays unsaid: a pod of which only a count is known fills squares without a device.

import { jobKey } from "../../api/paths";
import type { GpuDevice, GpuHolder, GpuNode } from "../../api/types";

export type CellKind =
  | "held"
  | "hidden" // By pods that this user may not see.
  | "free"
  | "unavailable"; // The node has it and does not give it out: broken, or kept back.

export interface Cell {
  kind: CellKind;
  node: GpuNode;
  /** Of the node's squares. */
  index: number;
  /** Absent: which one it is nobody says. */
  device?: GpuDevice;
  /** Those who claim it; of a device with an old status more than one. */
  holders: readonly GpuHolder[];
}

export interface NodeCells {
  node: GpuNode;
  cells: readonly Cell[];
  held: number;
  hidden: number;
  free: number;
  /** Of the free ones those that a pod can get: on a node that takes pods. */
  usable: number;
  unavailable: number;
  idle: number;
  /** More is held than the node has. */
  over: boolean;
}

// What a node says of itself may be nonsense; the server cuts there, too.
const CELLS_MAX = 1024;

const byId = new Intl.Collator("en", { numeric: true });

/** Nodes keep their identity while they do not change, so what is made of one is kept with it. */
const made = new WeakMap<GpuNode, NodeCells>();

export function cellsOf(node: GpuNode): NodeCells {
  let cells = made.get(node);
  if (!cells) {
    cells = make(node);
    made.set(node, cells);
  }
  return cells;
}

type Part = Omit<Cell, "index" | "node">;

function make(node: GpuNode): NodeCells {
  const known = knownDevices(node);
  const taken = [...known.filter((part) => part.holders.length > 0), ...countedOnly(node)];
  const freeDevices = known.filter((part) => part.holders.length === 0);
  const held = taken.length;
  const hidden = bounded(node.hidden);
  const capacity = bounded(node.capacity ?? 0);
  const allocatable = Math.min(capacity, bounded(node.allocatable ?? capacity));
  // A broken device that somebody still holds is not allocatable either.
  const broken = taken.filter((part) => part.device?.health === "Unhealthy").length;
  const room = Math.max(0, capacity - held - hidden);
  const free = Math.min(room, Math.max(0, allocatable - Math.max(0, held + hidden - broken)));
  const unavailable = room - free;
  const parts: Part[] = [
    ...placeKnown(known, taken),
    ...repeat("hidden", hidden),
    ...repeat("free", free - freeDevices.length),
    ...repeat("unavailable", unavailable),
  ];
  return {
    node,
    cells: parts.slice(0, CELLS_MAX).map((part, index) => ({ ...part, node, index })),
    held,
    hidden,
    free,
    usable: node.ready && node.schedulable ? free : 0,
    unavailable,
    idle: taken.filter((part) => part.holders.some((holder) => holder.idle)).length,
    over: node.capacity !== undefined && held + hidden > capacity,
  };
}

/** Devices in the order of their ids, held or not, then what is held without one. */
function placeKnown(known: readonly Part[], taken: readonly Part[]): Part[] {
  return [...known, ...taken.filter((part) => part.device === undefined)];
}

function knownDevices(node: GpuNode): Part[] {
  const devices = new Map(node.devices.map((device) => [device.id, device]));
  const holders = new Map<string, GpuHolder[]>();
  for (const holder of node.holders) {
    for (const id of holder.devices) {
      const claims = holders.get(id) ?? [];
      holders.set(id, [...claims, holder]);
      if (!devices.has(id)) devices.set(id, { id, health: "Unknown" });
    }
  }
  return [...devices.values()]
    .sort((a, b) => byId.compare(a.id, b.id))
    .slice(0, CELLS_MAX)
    .map((device) => {
      const claims = holders.get(device.id) ?? [];
      return { kind: claims.length > 0 ? "held" : "free", device, holders: claims };
    });
}

function countedOnly(node: GpuNode): Part[] {
  const parts: Part[] = [];
  for (const holder of node.holders) {
    const rest = bounded(holder.count - holder.devices.length);
    for (let i = 0; i < rest && parts.length < CELLS_MAX; i += 1) {
      parts.push({ kind: "held", holders: [holder] });
    }
  }
  return parts;
}

function repeat(kind: CellKind, count: number): Part[] {
  return Array.from({ length: bounded(count) }, () => ({ kind, holders: [] }));
}

function bounded(count: number): number {
  return Number.isFinite(count) ? Math.min(CELLS_MAX, Math.max(0, Math.floor(count))) : 0;
}

/** Of a pod some devices may be known and others not. */
export function sourceOf(cell: Cell, holder: GpuHolder): GpuHolder["source"] {
  return cell.device ? holder.source : "count";
}

/** What squares of one colour have in common: their job, else their pod. */
export function groupOf(holder: GpuHolder): string {
  return holder.job ? jobKey(holder.job) : `pod ${holder.namespace}/${holder.pod}`;
}
