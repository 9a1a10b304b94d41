// Who is on the map: each job with what it holds and asks for, those with most first.

import { jobKey } from "../../api/paths";
import type { GpuHolder, GpuMap } from "../../api/types";
import { groupOf } from "./cells";

export interface JobOnMap {
  group: string;
  name: string;
  /** Of jobKey; undefined: a pod of no job. */
  job?: string;
  held: number;
  /** Held, and what its pods without a node ask for. */
  asked: number;
}

export function jobsOnMap(map: GpuMap): JobOnMap[] {
  const jobs = new Map<string, JobOnMap>();
  const add = (holder: GpuHolder, isHeld: boolean): void => {
    const group = groupOf(holder);
    const name = holder.job?.name ?? holder.pod;
    const one = jobs.get(group) ?? { group, name, held: 0, asked: 0 };
    if (holder.job) one.job = jobKey(holder.job);
    one.asked += holder.count;
    if (isHeld) one.held += holder.count;
    jobs.set(group, one);
  };
  for (const node of map.nodes) for (const holder of node.holders) add(holder, true);
  for (const holder of map.pending) add(holder, false);
  return [...jobs.values()].sort(
    (a, b) => b.held - a.held || b.asked - a.asked || a.name.localeCompare(b.name, "en"),
  );
}
