// Words that several pages use.

import type { Health, HealthReason, JobState, Replica, Role } from "../../api/types";
import { plural } from "../plural";

export const common = {
  product: "TaaS",
  cancel: "Cancel",
  close: "Close",
  retry: "Try again",
  copy: "Copy",
  copied: "Copied",
  download: "Download",
  loading: "Loading…",
  all: "All",
  none: "none",
  unknown: "unknown",
  yes: "Yes",
  no: "No",
  of: (part: number, whole: number) => `${part} of ${whole}`,
  jobs: (count: number) => plural(count, "job", "jobs"),
  gpus: (count: number) => plural(count, "GPU", "GPUs"),

  health: {
    ok: "Healthy",
    warning: "Warning",
    critical: "Critical",
  } satisfies Record<Health, string>,
  seen: "Seen",
  seenOf: (what: string) =>
    `${what}. You have marked this as seen in this browser; it needs attention again when the ` +
    "reason changes.",
  markSeen: "Mark as seen",
  markUnseen: "Mark as not seen",
  healthReason: {
    Failed: "The job has failed",
    CrashLoop: "A container crashes again and again",
    ImagePull: "An image cannot be pulled",
    OutOfMemory: "A container ran out of memory",
    Unschedulable: "No node has room for a pod",
    PodFailed: "A pod has failed",
    NodeLost: "A node is gone",
    NodeSilent: "A node does not answer",
    Restarting: "It is restarting",
    RestartedLately: "It has restarted lately",
    PendingLong: "It has been pending for long",
    NoProgress: "It makes no progress",
    ConfigError: "A container's configuration is wrong",
    TerminatingLong: "A pod has been terminating for long",
    LossRises: "Its loss is rising",
  } satisfies Record<HealthReason, string>,
  state: {
    Pending: "Pending",
    Running: "Running",
    Restarting: "Restarting",
    Suspended: "Suspended",
    Succeeded: "Succeeded",
    Failed: "Failed",
  } satisfies Record<JobState, string>,
  deleting: "Deleting",
  replicaState: {
    Missing: "Missing",
    Removed: "Removed",
    Pending: "Pending",
    Running: "Running",
    Waiting: "Waiting to restart",
    Succeeded: "Succeeded",
    Failed: "Failed",
    Unknown: "Unknown",
    Terminating: "Terminating",
  } satisfies Record<Replica["state"], string>,
  role: {
    chief: "chief",
    master: "master",
    ps: "ps",
    worker: "worker",
    evaluator: "evaluator",
  } satisfies Record<Role, string>,
  endedWell: (count: number) => `${count} succeeded`,

  /** A length of time, in its two largest units. */
  span: {
    days: (d: number, h: number) => (h > 0 ? `${d}d ${h}h` : `${d}d`),
    hours: (h: number, m: number) => (m > 0 ? `${h}h ${m}m` : `${h}h`),
    minutes: (m: number, s: number) => (s > 0 ? `${m}m ${s}s` : `${m}m`),
    seconds: (s: number) => `${s}s`,
  },
};
