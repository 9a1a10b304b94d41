// What was asked for in the jobs whose curves are compared.

import { useQueries } from "@tanstack/react-query";
import type { JobRef } from "../../api/paths";
import { jobKey } from "../../api/paths";
import { historyQuery, manifestQuery } from "../../api/queries";
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
      return of && "uid" in of
        ? historyQuery(api, of.uid)
        : manifestQuery(api, of?.job ?? job);
    }),
    combine: (results) =>
      all.map((key, index) => {
        const { data, isLoading = true } = results[index] ?? {};
        const spec = data && specOf(data);
        return { key, spec, failed: spec === undefined && !isLoading };
      }),
  });
}

function specOf(read: HistoryDetail | KubeObject): unknown {
  return "apiVersion" in read ? read.spec : read.manifest?.spec;
}
