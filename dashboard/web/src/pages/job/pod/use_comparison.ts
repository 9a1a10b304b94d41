// Reads what the other replicas of a job were told, and finds who was told otherwise. Each pod is
// a read of the API server with the user's own rights, so only so many are asked.

import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useServices } from "../../../api/services";
import type { JobDetail, KubeObject, Replica } from "../../../api/types";
import { replicaName } from "../names";
import { readPod } from "./pod_object";
import type { Difference, Told } from "./tf_config";
import { compareTold, isSame, programOf, readTfConfig } from "./tf_config";

// Browsers open six connections over HTTP/1.1; the stream has one and a click needs another.
const PARALLEL = 4;
// A few seconds of one API server; of larger jobs a part that is spread over all of them.
export const COMPARED_MAX = 200;
/** Jobs of so many replicas are compared without being asked. */
export const COMPARED_UNASKED = 16;

export interface Comparison {
  phase: "idle" | "running" | "done";
  /** To be looked at, and looked at so far. */
  asked: number;
  done: number;
  same: number;
  others: number;
  different: { name: string; difference: Difference }[];
  unread: string[];
}

const NOTHING: Comparison = {
  phase: "idle",
  asked: 0,
  done: 0,
  same: 0,
  others: 0,
  different: [],
  unread: [],
};

/** Those with a pod, evenly over all of them if they are many. */
export function toCompare(replicas: readonly Replica[], name: string): Replica[] {
  const others = replicas.filter((one) => one.pod !== undefined && replicaName(one) !== name);
  const step = Math.max(1, Math.ceil(others.length / COMPARED_MAX));
  return others.filter((_, index) => index % step === 0);
}

interface Of {
  job: JobDetail;
  name: string;
  told: Told | undefined;
}

export function useComparison({ job, name, told }: Of): [Comparison, () => void] {
  const { api } = useServices();
  const queries = useQueryClient();
  const [state, setState] = useState<Comparison>(NOTHING);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = useCallback(() => {
    if (!told) return;
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    const left = toCompare(job.replicas, name);
    const others = job.replicas.filter((one) => one.pod !== undefined).length - 1;
    let sum: Comparison = { ...NOTHING, phase: "running", asked: left.length, others };
    setState(sum);
    const look = async (replica: Replica): Promise<void> => {
      const { namespace } = job;
      const pod = replica.pod ?? "";
      const path = `api/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
      let found: Told | undefined;
      try {
        // The cache of usePod: an opened drawer has it already, and the next one will.
        const object = await queries.fetchQuery({
          queryKey: ["pod", namespace, pod],
          // Not our signal: another one who waits for the same pod must get it.
          queryFn: ({ signal }) => api.get<KubeObject>(path, { signal }),
        });
        found = readTfConfig(programOf(readPod(object).containers)?.env ?? []);
      } catch {
        found = undefined;
      }
      if (!abort.signal.aborted) {
        sum = counted(sum, replicaName(replica), told, found);
        setState(sum);
      }
    };
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next && !abort.signal.aborted; next = left.shift()) {
        await look(next);
      }
    };
    void Promise.all(Array.from({ length: PARALLEL }, worker)).then(() => {
      if (!abort.signal.aborted) setState({ ...sum, phase: "done" });
    });
  }, [api, queries, job, name, told]);
  return [state, start];
}

function counted(sum: Comparison, name: string, mine: Told, theirs: Told | undefined): Comparison {
  const next = { ...sum, done: sum.done + 1 };
  if (!theirs || theirs.list === "unreadable") return { ...next, unread: [...sum.unread, name] };
  const difference = compareTold(mine, theirs);
  if (isSame(difference)) return { ...next, same: sum.same + 1 };
  return { ...next, different: [...sum.different, { name, difference }] };
}
