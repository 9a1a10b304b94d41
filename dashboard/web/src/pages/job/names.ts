// Names of replicas, and where a sentence of the cluster speaks of one.
//
//   replicaName(replica)                               // "worker-1"
//   messageParts("worker-1 cannot start", job)         // [{text: "worker-1", replica: …}, …]

import type { JobDetail, Replica } from "../../api/types";

export function replicaName(replica: { role: string; index: number }): string {
  return `${replica.role}-${replica.index}`;
}

export interface MessagePart {
  text: string;
  replica?: Replica;
}

// Names of pods and replicas begin and end with a letter or digit; "worker-1." ends a sentence.
const NAME = /[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/gi;
// Role and index, maybe after the name of the job.
const ENDS_AS_REPLICA = /(?:^|-)([a-z]+)-(\d{1,9})$/;

type Named = Pick<JobDetail, "name" | "replicas">;

/** By its short name or its pod's; of ten thousand it is found without naming them all. */
export function findReplica(name: string, job: Named): Replica | undefined {
  const [, role, digits] = ENDS_AS_REPLICA.exec(name) ?? [];
  if (role === undefined) return undefined;
  const index = Number(digits);
  const replica = job.replicas.find((one) => one.index === index && one.role === role);
  if (!replica) return undefined;
  const short = replicaName(replica);
  return name === short || name === `${job.name}-${short}` || name === replica.pod
    ? replica
    : undefined;
}

/** The message cut where it names a replica of this job. */
export function messageParts(message: string, job: Named): MessagePart[] {
  const parts: MessagePart[] = [];
  let done = 0;
  for (const match of message.matchAll(NAME)) {
    const replica = findReplica(match[0], job);
    if (!replica) continue;
    if (match.index > done) parts.push({ text: message.slice(done, match.index) });
    parts.push({ text: match[0], replica });
    done = match.index + match[0].length;
  }
  if (done < message.length) parts.push({ text: message.slice(done) });
  return parts;
}

const SEVERITY = { critical: 2, warning: 1, ok: 0 };

/** The one to look at first; undefined: all are well. */
export function worstReplica(replicas: readonly Replica[]): Replica | undefined {
  let worst: Replica | undefined;
  for (const replica of replicas) {
    if (replica.health === "ok") continue;
    if (!worst || SEVERITY[replica.health] > SEVERITY[worst.health]) worst = replica;
  }
  return worst;
}
