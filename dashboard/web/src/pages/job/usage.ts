// The CPU and memory that a job's pods use, added up.

import type { JobUsage, PodUsage } from "../../api/types";

/** undefined: nothing is measured. */
export function usageOfAll(usage: JobUsage | undefined): PodUsage | undefined {
  const pods = Object.values(usage?.pods ?? {});
  if (pods.length === 0) return undefined;
  const sum = { cpu: 0, memoryMiB: 0 };
  for (const { cpu, memoryMiB } of pods) {
    sum.cpu += cpu;
    sum.memoryMiB += memoryMiB;
  }
  return sum;
}
