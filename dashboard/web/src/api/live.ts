// What the stream tells, held for the components that show it.

import { Cell } from "./cell";
import { ServerClock } from "./clock";
import { JobsStore } from "./jobs_store";
import type { StreamOptions } from "./stream";
import { LiveStream } from "./stream";
import type { ClusterState, GpuMap, JobDetail, JobEvent, JobsEvent, QueueList } from "./types";

/** `undefined`: not known yet; `null`: it does not exist, or this user may not see it. */
export type LiveJob = { key: string; job: JobDetail | null } | undefined;

export class LiveData {
  readonly stream: LiveStream;
  readonly clock = new ServerClock();
  readonly jobs = new JobsStore();
  readonly job = new Cell<LiveJob>(undefined);
  readonly gpus = new Cell<GpuMap | undefined>(undefined);
  readonly queues = new Cell<QueueList | undefined>(undefined);
  readonly cluster = new Cell<ClusterState | undefined>(undefined);

  constructor(options: StreamOptions) {
    this.stream = new LiveStream(options);
    this.stream.on("jobs", (data) => this.jobs.apply(data as JobsEvent));
    this.stream.on("job", (data) => {
      const key = this.stream.job;
      if (key !== undefined) this.job.set({ key, job: (data as JobEvent).job });
    });
    this.stream.on("gpus", (data) => this.gpus.set(data as GpuMap));
    this.stream.on("queues", (data) => this.queues.set(data as QueueList));
    this.stream.on("cluster", (data) => {
      const state = data as ClusterState;
      this.clock.set(state.now);
      this.cluster.set(state);
    });
  }

  /** Another user: nothing of the one before may show. */
  clear(): void {
    this.stream.forget();
    this.jobs.clear();
    this.job.set(undefined);
    this.gpus.set(undefined);
    this.queues.set(undefined);
  }
}
