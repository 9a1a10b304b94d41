// Who waits, over all queues: an entry stands in a ClusterQueue and in a LocalQueue and shows once.

import type { Queue, QueueEntry } from "../../api/types";

export interface Waiting {
  key: string;
  entry: QueueEntry;
  /** Of a ClusterQueue, as far as it is known; "" in no queue of Kueue. */
  line: string;
}

/** Of a queue, in the URL and for React. */
export function queueKey(queue: Queue): string {
  if (queue.inOrder) return "order";
  const { namespace, name } = queue;
  return namespace === undefined ? `cluster/${name}` : `${namespace}/${name}`;
}

function entryKey({ namespace, workload, job }: QueueEntry, line: string): string {
  // Of one and the same the place may be known without its name.
  return workload === undefined
    ? `${line}\n${namespace}\n${job?.kind ?? ""}\n${job?.name ?? ""}`
    : `${namespace}\n${workload}`;
}

function lineOf(queue: Queue): string {
  if (queue.inOrder) return "";
  return queue.namespace === undefined ? queue.name : (queue.clusterQueue ?? "");
}

/** By line, then by place; those without one as the server has them. */
export function waitingOf(queues: readonly Queue[], namespace: string): Waiting[] {
  const all = new Map<string, Waiting>();
  for (const queue of queues) {
    const line = lineOf(queue);
    for (const entry of queue.pending) {
      if (namespace !== "" && entry.namespace !== namespace) continue;
      const key = entryKey(entry, line);
      if (!all.has(key)) all.set(key, { key, entry, line });
    }
  }
  const rank = ({ state, position }: QueueEntry): number => {
    if (state === "reserved") return 0;
    return state === "waiting" && position > 0 ? position : Number.MAX_SAFE_INTEGER;
  };
  // Stable: what has no place keeps its order.
  return [...all.values()].sort(
    (a, b) => a.line.localeCompare(b.line) || rank(a.entry) - rank(b.entry),
  );
}

/** Each line once: the ClusterQueue where it is in sight, else the LocalQueues that lead to it. */
function onceEach(queues: readonly Queue[]): Queue[] {
  const lines = new Set(queues.filter((one) => one.namespace === undefined).map(lineOf));
  return queues.filter((queue) => queue.namespace === undefined || !lines.has(lineOf(queue)));
}

/** Those whom this user may see and whom the server does not list. */
export function notListed(queues: readonly Queue[]): number {
  return onceEach(queues).reduce(
    (sum, queue) => sum + queue.waiting - queue.hidden - queue.pending.length,
    0,
  );
}

/** All that wait, also those that this user may not see. */
export function allWaiting(queues: readonly Queue[]): number {
  return onceEach(queues).reduce((sum, queue) => sum + queue.waiting, 0);
}
