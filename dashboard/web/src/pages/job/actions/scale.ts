// Which numbers of workers a job can have. What else forbids one, such as the trainer's strategy,
// the API server says.

import type { JobDetail, RoleCount } from "../../../api/types";
import { workersOf } from "./use_job_changes";

// The schema's bound, of both kinds.
export const MOST_WORKERS = 10_000;

/** Those of an elastic job; else somebody has to train: a chief, or a worker. */
export function leastWorkers(job: Pick<JobDetail, "roles">): number {
  const elastic = elasticOf(job);
  if (elastic) return elastic.minReplicas;
  const chief = job.roles.some(
    ({ role, desired }) => (role === "chief" || role === "master") && desired > 0,
  );
  return chief ? 0 : 1;
}

export function mostWorkers(job: Pick<JobDetail, "roles">): number {
  return elasticOf(job)?.maxReplicas ?? MOST_WORKERS;
}

function elasticOf(job: Pick<JobDetail, "roles">): RoleCount["elastic"] {
  return job.roles.find(({ role }) => role === "worker")?.elastic;
}

export type ScaleProblem = "number" | "range" | "same";

export function scaleProblem(
  text: string,
  job: Pick<JobDetail, "roles">,
): ScaleProblem | undefined {
  if (!/^\d+$/.test(text.trim())) return "number";
  const workers = Number(text);
  if (workers < leastWorkers(job) || workers > mostWorkers(job)) return "range";
  return workers === workersOf(job) ? "same" : undefined;
}
