// What can be done with several jobs at once, to which of them it applies, and doing it.

import type { ApiClient } from "../../api/client";
import type { ApiError } from "../../api/problem";
import { asApiError } from "../../api/problem";
import { changeJob, deleteJob } from "../../api/queries";
import type { JobRow } from "../../api/types";

export const ACTIONS = ["suspend", "resume", "delete"] as const;
export type Action = (typeof ACTIONS)[number];

/** Why an action would do nothing with a job; undefined: it does something. */
export type Spared = "ended" | "deleting" | "isSuspended" | "notSuspended";

export function spared(action: Action, row: JobRow): Spared | undefined {
  if (row.deleting) return "deleting";
  if (action === "delete") return undefined;
  if (row.state === "Succeeded" || row.state === "Failed") return "ended";
  const suspended = row.state === "Suspended";
  if (action === "suspend") return suspended ? "isSuspended" : undefined;
  return suspended ? undefined : "notSuspended";
}

export type Result = "waiting" | "running" | "done" | ApiError;

// The API server has its own limits for each user; four keep a browser's connections free for the
// stream and for reads.
const AT_ONCE = 4;

interface Run {
  api: ApiClient;
  action: Action;
  rows: readonly JobRow[];
  onResult: (uid: string, result: Result) => void;
  /** Those that have not begun are left. */
  isStopped: () => boolean;
}

export async function runBulk({ api, action, rows, onResult, isStopped }: Run): Promise<void> {
  const left = [...rows];
  const worker = async (): Promise<void> => {
    for (let row = left.shift(); row && !isStopped(); row = left.shift()) {
      onResult(row.uid, "running");
      try {
        await act(api, action, row);
        onResult(row.uid, "done");
      } catch (error) {
        onResult(row.uid, asApiError(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function act(api: ApiClient, action: Action, row: JobRow): Promise<void> {
  if (action === "delete") return deleteJob(api, row);
  return changeJob(api, row, { suspend: action === "suspend" });
}
