// Queues and who waits in them, for tests of this page.

import type { Queue, QueueEntry } from "../../api/types";

export function entry(name: string, position: number, more: Partial<QueueEntry> = {}): QueueEntry {
  return {
    position,
    state: "waiting",
    namespace: "ml",
    job: { kind: "TrainingJob", namespace: "ml", name },
    workload: name,
    owner: "ada",
    queue: "team",
    priority: 0,
    gpus: 8,
    since: "2026-03-01T10:00:00Z",
    reason: "insufficient quota",
    ...more,
  };
}

export function queue(name: string, more: Partial<Queue> = {}): Queue {
  return { name, usage: [], pending: [], waiting: 0, hidden: 0, admitted: 0, ...more };
}
