// What of the map shows, as the URL says it, and which squares that are.

import { jobKey } from "../../api/paths";
import type { GpuHolder } from "../../api/types";
import type { Cell, NodeCells } from "./cells";

export type Grouping = "product" | "free" | "none";
export const GROUPINGS: readonly Grouping[] = ["product", "free", "none"];

export interface View {
  text: string;
  product: string[];
  owner: string[];
  idle: boolean;
  /** Nodes with at least so many free GPUs; 0: all. */
  free: number;
  /** Of jobKey; "": all. */
  job: string;
  table: boolean;
  group: Grouping;
}

export const PLAIN: View = {
  text: "",
  product: [],
  owner: [],
  idle: false,
  free: 0,
  job: "",
  table: false,
  group: "product",
};

export function readView(search: URLSearchParams): View {
  const free = Number(search.get("free") ?? 0);
  return {
    text: search.get("q") ?? "",
    // "": of nodes without the label.
    product: search.getAll("product"),
    owner: search.getAll("owner").filter((owner) => owner !== ""),
    idle: search.get("idle") === "1",
    free: Number.isInteger(free) && free > 0 ? Math.min(free, 1024) : 0,
    job: sameKey(search.get("job") ?? ""),
    table: search.get("view") === "table",
    group: GROUPINGS.find((one) => one === search.get("group")) ?? "product",
  };
}

/** Links come with a job's name as it is, and as it is in a path. */
function sameKey(key: string): string {
  try {
    return key.split("/").map((part) => encodeURIComponent(decodeURIComponent(part))).join("/");
  } catch {
    return key;
  }
}

export function writeView(view: View, before: URLSearchParams): URLSearchParams {
  const search = new URLSearchParams(before);
  for (const name of ["q", "product", "owner", "idle", "free", "job", "view", "group"]) {
    search.delete(name);
  }
  if (view.text !== "") search.set("q", view.text);
  for (const product of view.product) search.append("product", product);
  for (const owner of view.owner) search.append("owner", owner);
  if (view.idle) search.set("idle", "1");
  if (view.free > 0) search.set("free", String(view.free));
  if (view.job !== "") search.set("job", view.job);
  if (view.table) search.set("view", "table");
  if (view.group !== PLAIN.group) search.set("group", view.group);
  return search;
}

/** Whether it is about who holds what, so that squares stand out from others of their node. */
export function isAboutCells(view: View, namespace: string): boolean {
  const { text, owner, idle, job } = view;
  return namespace !== "" || text.trim() !== "" || owner.length > 0 || idle || job !== "";
}

export function isFiltered(view: View): boolean {
  return isAboutCells(view, "") || view.product.length > 0 || view.free > 0;
}

export interface Shown {
  nodes: NodeCells[];
  /** Absent: all of them. */
  matches: ((cell: Cell) => boolean) | undefined;
  matching: number;
}

export function show(all: readonly NodeCells[], view: View, namespace: string): Shown {
  const ofNode = (one: NodeCells): boolean =>
    one.cells.length > 0 &&
    (view.product.length === 0 || view.product.includes(one.node.product)) &&
    (view.free === 0 || one.usable >= view.free);
  const candidates = all.filter(ofNode);
  if (!isAboutCells(view, namespace)) {
    const matching = candidates.reduce((sum, one) => sum + one.cells.length, 0);
    return { nodes: candidates, matches: undefined, matching };
  }
  const matches = matcher(view, namespace);
  let matching = 0;
  const nodes = candidates.filter((one) => {
    const count = one.cells.reduce((sum, cell) => sum + (matches(cell) ? 1 : 0), 0);
    matching += count;
    return count > 0;
  });
  return { nodes, matches, matching };
}

function matcher(view: View, namespace: string): (cell: Cell) => boolean {
  const terms = view.text.toLowerCase().split(/\s+/).filter((term) => term !== "");
  const aboutHolder =
    namespace !== "" || view.owner.length > 0 || view.idle || view.job !== "";
  const ofHolder = (holder: GpuHolder): boolean =>
    (namespace === "" || holder.namespace === namespace) &&
    (view.owner.length === 0 || view.owner.includes(holder.owner ?? "")) &&
    (!view.idle || holder.idle) &&
    (view.job === "" || (holder.job !== undefined && jobKey(holder.job) === view.job));
  return (cell) => {
    const holders = aboutHolder ? cell.holders.filter(ofHolder) : cell.holders;
    if (aboutHolder && holders.length === 0) return false;
    if (terms.length === 0) return true;
    const text = [cell.node.name, cell.node.product, cell.device?.id, ...holders.map(words)]
      .join("\n")
      .toLowerCase();
    return terms.every((term) => text.includes(term));
  };
}

function words(holder: GpuHolder): string {
  const { namespace, pod, job, owner = "" } = holder;
  return `${namespace}/${pod}\n${job ? `${job.namespace}/${job.name}` : ""}\n${owner}`;
}

export interface Group {
  /** "": there is only one. */
  name: string;
  nodes: NodeCells[];
}

export function group(nodes: readonly NodeCells[], by: Grouping): Group[] {
  if (by === "none") return [{ name: "", nodes: [...nodes] }];
  const groups = new Map<string, NodeCells[]>();
  for (const one of nodes) {
    const name = by === "free" ? String(one.usable) : one.node.product;
    const list = groups.get(name);
    if (list) list.push(one);
    else groups.set(name, [one]);
  }
  const order = (a: Group, b: Group): number =>
    by === "free" ? Number(b.name) - Number(a.name) : a.name.localeCompare(b.name);
  return [...groups].map(([name, list]) => ({ name, nodes: list })).sort(order);
}

export function optionsOf(all: readonly NodeCells[]): { products: string[]; owners: string[] } {
  const products = new Set<string>();
  const owners = new Set<string>();
  for (const { node } of all) {
    products.add(node.product);
    for (const { owner } of node.holders) if (owner !== undefined) owners.add(owner);
  }
  return { products: [...products].sort(), owners: [...owners].sort() };
}
