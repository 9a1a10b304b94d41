import type { QueueEntry } from "../../api/types";
import { plural } from "../plural";

export const queues = {
  title: "Queues",
  waitingIn: (jobs: number) => `${plural(jobs, "waits", "wait")}`,
  builtin:
    "This dashboard finds no Kueue in the cluster. Jobs wait in the order in which they were " +
    "created; the scheduler passes over those that do not fit, so a later one may start first.",
  kueue:
    "Kueue takes by priority, then in the order of arrival. A queue that is not strict lets a " +
    "later one pass that fits.",
  noneVisible: "The cluster has Kueue, but you may see none of its queues.",
  clusterQueues: "Cluster queues",
  localQueues: "Local queues",
  inOrder: "The cluster",
  inOrderBeside: "In no queue of Kueue",
  inOrderWhy: "Held of what nodes offer, by product; jobs in the order of creation.",
  cohort: (name: string) => `cohort ${name}`,
  of: (clusterQueue: string) => `of ${clusterQueue}`,
  strategies: {
    StrictFIFO: "strict order",
    BestEffortFIFO: "best effort order",
  },
  stopped: "stopped",
  inactive: "admits nothing",
  missing: "does not exist",
  missingWhy: "Jobs name this queue, and the namespace has no LocalQueue of that name.",
  running: (count: number) => plural(count, "job runs", "jobs run"),
  waiting: (count: number) => plural(count, "job waits", "jobs wait"),
  waitingHidden: (count: number) => `${count} of them not yours to see`,
  onlyThis: "Show only its jobs",
  allQueues: "Show all queues",
  onlyOf: (queue: string) => `Jobs that wait in ${queue}`,

  noUsage: "No quota and no usage known.",
  unknown: "usage unknown",
  quota: (nominal: string) => `quota ${nominal}`,
  usedOf: (used: string, nominal: string) => `${used} of ${nominal}`,
  used: (used: string) => `${used} used`,
  borrowed: (amount: string) => `${amount} borrowed`,
  mayBorrow: (amount: string) => `may borrow ${amount}`,
  over: "more than the quota",

  pending: "Waiting",
  none: "Nobody waits.",
  noneIn: (namespace: string) => `Nobody waits in ${namespace}.`,
  more: (count: number) => `Show ${count} more`,
  notListed: (count: number) => `${plural(count, "more waits", "more wait")} behind these.`,
  columns: {
    position: "Place",
    job: "Job",
    queue: "Queue",
    priority: "Priority",
    gpus: "GPUs",
    owner: "Owner",
    since: "Waiting",
    reason: "Reason",
  },
  placeWhy: (position: number) =>
    position === 1 ? "First in line" : `${position - 1} before it, also those that you may not see`,
  states: {
    waiting: "waits",
    reserved: "has quota",
    inactive: "taken out",
  } satisfies Record<QueueEntry["state"], string>,
  stateWhy: {
    waiting: "It is named in a queue that leads to none, so it has no place.",
    reserved: "It has its quota and waits for admission checks.",
    inactive: "It is not looked at until somebody activates it again.",
  } satisfies Record<QueueEntry["state"], string>,
  noReason: "Nobody has looked at it yet.",
  noQueue: "none",
};
