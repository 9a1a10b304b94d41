// Changes of a job that were asked for, from the click until the stream shows them.
//
//   const changes = useJobChanges(job);
//   changes.start({ action: "scale", workers: 8 });
//   changes.pending?.action        // "scale", until the job has eight workers

import { useCallback, useEffect, useRef, useState } from "react";
import { useChangeJob, useDeleteJob } from "../../../api/queries";
import type { JobChange, JobDetail } from "../../../api/types";
import { useAnnounce } from "../../../components/Announcer";
import { useText } from "../../../i18n";

export type Change =
  | { action: "suspend" }
  | { action: "resume" }
  | { action: "scale"; workers: number }
  | { action: "delete" };

// A stream that is away for longer has its own banner; the buttons must come back.
export const PENDING_MAX_MS = 30_000;

export interface JobChanges {
  pending: Change | undefined;
  failure: { action: Change["action"]; error: Error } | undefined;
  start: (change: Change) => void;
  forgetFailure: () => void;
}

export function workersOf(job: Pick<JobDetail, "roles">): number {
  return job.roles.find(({ role }) => role === "worker")?.desired ?? 0;
}

function isDone(change: Change, job: JobDetail): boolean {
  switch (change.action) {
    case "suspend":
      return job.suspended;
    case "resume":
      return !job.suspended;
    case "scale":
      return workersOf(job) === change.workers;
    case "delete":
      return job.deleting === true;
  }
}

function patchOf(change: Change): JobChange {
  if (change.action === "scale") return { workers: change.workers };
  return { suspend: change.action === "suspend" };
}

/** onDelete: with the uid of the job that goes, or undefined where it stays after all. */
export function useJobChanges(
  job: JobDetail,
  onDelete: (uid: string | undefined) => void,
): JobChanges {
  const { t } = useText();
  const announce = useAnnounce();
  const change = useChangeJob();
  const remove = useDeleteJob();
  const [pending, setPending] = useState<Change>();
  const [failure, setFailure] = useState<JobChanges["failure"]>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  // Done is done: what somebody else does later must not bring it back.
  if (pending && isDone(pending, job)) setPending(undefined);
  const start = (wanted: Change): void => {
    const { action } = wanted;
    setFailure(undefined);
    setPending(wanted);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setPending(undefined), PENDING_MAX_MS);
    const after = {
      onSuccess: () => announce(t.job.accepted[action]),
      onError: (error: Error) => {
        clearTimeout(timer.current);
        setPending(undefined);
        setFailure({ action, error });
        if (action === "delete") onDelete(undefined);
      },
    };
    if (action === "delete") {
      // Not with the answer: the stream may be faster.
      onDelete(job.uid);
      remove.mutate(job, after);
    } else change.mutate({ job, change: patchOf(wanted) }, after);
  };
  const forgetFailure = useCallback(() => setFailure(undefined), []);
  return { pending, failure, start, forgetFailure };
}
