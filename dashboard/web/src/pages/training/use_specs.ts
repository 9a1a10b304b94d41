// What was asked for in the jobs whose curves are compared.

import { useQueries } from "@tanstack/react-query";
import type { JobRef } from "../../api/paths";
import { jobApi, jobKey } from "../../api/paths";
import { useServices } from "../../api/services";
import type { HistoryDetail, KubeObject } from "../../api/types";
import { comparedOf } from "./settings";

export interface JobSpec {
  key: string;
  /** undefined: not read yet, or not to be read. */
  spec: unknown;
  failed: boolean;
}

/** Of the page's job and of those in `keys`, in this order. Each is read once: a spec that is
 * changed meanwhile shows when the page is opened anew. */
export function useSpecs(job: JobRef, keys: readonly string[]): JobSpec[] {
  const { api } = useServices();
  const all = keys.length === 0 ? [] : [jobKey(job), ...keys];
  return useQueries({
    queries: all.map((key) => {
      const of = comparedOf(key);
      if (of && "uid" in of) {
        return {
          queryKey: ["history", of.uid],
          queryFn: ({ signal }: { signal: AbortSignal }): Promise<unknown> =>
            api.get<HistoryDetail>(`api/history/${encodeURIComponent(of.uid)}`, { signal }),
          select: (detail: unknown) => (detail as HistoryDetail).manifest?.spec,
        };
      }
      const live = of?.job ?? job;
      return {
        queryKey: ["manifest", jobKey(live)],
        queryFn: ({ signal }: { signal: AbortSignal }): Promise<unknown> =>
          api.get<KubeObject>(`${jobApi(live)}/manifest`, { signal }),
        select: (object: unknown) => (object as KubeObject).spec,
      };
    }),
    combine: (results) =>
      all.map((key, index) => {
        const { data, isLoading = true } = results[index] ?? {};
        return { key, spec: data, failed: data === undefined && !isLoading };
      }),
  });
}
