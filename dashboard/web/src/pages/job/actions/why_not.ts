// Why a button is disabled; undefined: it is not. The first reason that holds is told.

import type { JobDetail } from "../../../api/types";
import type { Texts } from "../../../i18n/en";

export type Action = "suspend" | "resume" | "scale" | "delete" | "clone";

export interface Circumstances {
  gone: boolean;
  readOnly: boolean;
  /** A change that the stream does not show yet. */
  pending: boolean;
}

export function hasEnded(job: Pick<JobDetail, "state">): boolean {
  return job.state === "Succeeded" || job.state === "Failed";
}

function notAllowed(action: Action, job: JobDetail, t: Texts): string | undefined {
  const words = t.job.why;
  const { access, kind, namespace } = job;
  if (action === "clone") return access.create ? undefined : words.noCreate(kind, namespace);
  if (action === "delete") return access.delete ? undefined : words.noDelete(kind, namespace);
  return access.update ? undefined : words.noUpdate(kind, namespace);
}

export function whyNot(
  action: Action,
  job: JobDetail,
  { gone, readOnly, pending }: Circumstances,
  t: Texts,
): string | undefined {
  const words = t.job.why;
  if (gone) return words.gone;
  if (readOnly) return t.shell.readOnlyWhy;
  const right = notAllowed(action, job, t);
  if (right !== undefined || action === "clone") return right;
  if (job.deleting) return words.deleting;
  if (pending) return words.pending;
  if (action === "delete") return undefined;
  if (hasEnded(job)) return words.ended;
  const hasWorkers = job.roles.some(({ role }) => role === "worker");
  return action === "scale" && !hasWorkers ? words.noWorkers : undefined;
}
