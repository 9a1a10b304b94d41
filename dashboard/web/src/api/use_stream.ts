// How a page gets what changes by itself.
//
//   const { rows, complete } = useLiveJobs();
//   const job = useLiveJob(ref);

import { useEffect } from "react";
import { useCell } from "./cell";
import type { JobsSnapshot } from "./jobs_store";
import type { JobRef } from "./paths";
import { jobKey } from "./paths";
import { useServices } from "./services";
import type { StreamStatus, Topics } from "./stream";
import type { ClusterState, GpuMap, JobDetail, QueueList } from "./types";

/** Asks the stream for these topics while the component is on screen. */
export function useStream({ jobs, job, gpus, queues }: Topics): void {
  const { stream } = useServices().live;
  useEffect(() => {
    const topics: Topics = {};
    if (jobs) topics.jobs = true;
    if (job !== undefined) topics.job = job;
    if (gpus) topics.gpus = true;
    if (queues) topics.queues = true;
    return stream.want(topics);
  }, [stream, jobs, job, gpus, queues]);
}

export function useLiveJobs(): JobsSnapshot {
  useStream({ jobs: true });
  return useCell(useServices().live.jobs);
}

/** `undefined`: not known yet; `null`: it does not exist, or this user may not see it. */
export function useLiveJob(ref: JobRef): JobDetail | null | undefined {
  const key = jobKey(ref);
  useStream({ job: key });
  const live = useCell(useServices().live.job);
  return live?.key === key ? live.job : undefined;
}

export function useLiveGpus(): GpuMap | undefined {
  useStream({ gpus: true });
  return useCell(useServices().live.gpus);
}

export function useLiveQueues(): QueueList | undefined {
  useStream({ queues: true });
  return useCell(useServices().live.queues);
}

export interface Connection {
  status: StreamStatus;
  cluster: ClusterState | undefined;
}

export function useConnection(): Connection {
  const { live } = useServices();
  return { status: useCell(live.stream.status), cluster: useCell(live.cluster) };
}
