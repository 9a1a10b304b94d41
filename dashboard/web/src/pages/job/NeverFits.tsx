// Of a job that waits for a node: whether there is any that could ever hold its largest replica.

import type { ReactNode } from "react";
import { useLiveGpus } from "../../api/use_stream";
import type { GpuMap, JobDetail } from "../../api/types";
import { useText } from "../../i18n";

/** The most GPUs that one replica waits for; 0: none does. */
export function wantedByOne(job: Pick<JobDetail, "replicas">): number {
  const waiting = job.replicas.filter(({ state }) => state === "Pending");
  return Math.max(0, ...waiting.map(({ gpus = 0 }) => gpus));
}

/** The most that a node has; undefined: that is not known, or it is enough. */
export function tooFew(map: GpuMap | undefined, wanted: number): number | undefined {
  if (!map?.nodesVisible || map.nodes.length === 0) return undefined;
  const most = Math.max(0, ...map.nodes.map(({ capacity = 0 }) => capacity));
  return wanted > most ? most : undefined;
}

export function NeverFits({ wanted }: { wanted: number }): ReactNode {
  const { t } = useText();
  const most = tooFew(useLiveGpus(), wanted);
  return most === undefined ? null : <b>{t.job.neverFits(wanted, most)}</b>;
}
