// The curves of the page's job and of those that it is compared with, read again while they grow.

import type { QueryClient } from "@tanstack/react-query";
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import type { ApiClient } from "../../api/client";
import type { JobRef } from "../../api/paths";
import { jobKey } from "../../api/paths";
import { historyQuery, readSeries } from "../../api/queries";
import { useServices } from "../../api/services";
import type { JobDetail, SeriesAnswer } from "../../api/types";
import type { Run } from "./curves";
import { newRun } from "./curves";
import type { Reading } from "./read_on";
import { readOn } from "./read_on";
import { comparedOf } from "./settings";

// Trainers take a point every some seconds; the server asks them at most once a second.
const LIVE_MS = 2_000;
const COMPARED_MS = 5_000;
// Of a job whose trainer does not answer: it may not have begun.
const SILENT_MS = 15_000;

export interface Series {
  answer: SeriesAnswer | undefined;
  error: Error | null;
  refetch: () => void;
}

function seriesQuery(api: ApiClient, queries: QueryClient, job: JobRef) {
  const queryKey = ["series", jobKey(job)];
  return {
    queryKey,
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Reading> =>
      readOn(
        (since) => readSeries(api, job, since, signal),
        queries.getQueryData<Reading>(queryKey),
      ),
  };
}

export function isOver(live: JobDetail | null | undefined): boolean {
  return live === null || live?.state === "Succeeded" || live?.state === "Failed";
}

/** over: it makes no more points. */
export function useSeries(job: JobRef, over: boolean): Series {
  const { api } = useServices();
  const { data, error, refetch } = useQuery({
    ...seriesQuery(api, useQueryClient(), job),
    // The page's visibility stops it by itself.
    refetchInterval: over ? false : LIVE_MS,
  });
  const wasOver = useRef(over);
  useEffect(() => {
    // The last points came after the last reading.
    if (over && !wasOver.current) void refetch();
    wasOver.current = over;
  }, [over, refetch]);
  return { answer: data?.answer, error, refetch: () => void refetch() };
}

function pauseOf(reading: Reading | undefined): number | false {
  if (reading?.answer.archived) return false;
  return reading?.answer.source === undefined ? SILENT_MS : COMPARED_MS;
}

export interface ComparedRun {
  run: Run;
  state: "loading" | "ready" | "failed";
  error: Error | null;
}

/** In the order of the keys. namespace: of the page's job, which is named without it, as others. */
export function useCompared(keys: readonly string[], namespace: string): ComparedRun[] {
  const { api } = useServices();
  const queries = useQueryClient();
  const { jobs, gone } = useMemo(() => split(keys), [keys]);
  const nameOf = (job: { namespace: string; name: string }): string =>
    job.namespace === namespace ? job.name : `${job.namespace}/${job.name}`;
  // What `combine` gives stays the same object while it says the same, so that charts are prepared
  // anew only when curves have changed.
  const live = useQueries({
    queries: jobs.map(({ job }) => ({
      ...seriesQuery(api, queries, job),
      refetchInterval: (query: { state: { data: Reading | undefined } }) =>
        pauseOf(query.state.data),
    })),
    combine: (results) =>
      jobs.map(({ key, job }, index) => {
        const { data, error = null } = results[index] ?? {};
        return compareRun(key, nameOf(job), data?.answer, error);
      }),
  });
  const past = useQueries({
    queries: gone.map(({ uid }) => historyQuery(api, uid)),
    combine: (results) =>
      gone.map(({ key, uid }, index) => {
        const { data, error = null } = results[index] ?? {};
        const label = data ? nameOf(data) : uid;
        return compareRun(key, label, data?.series, error);
      }),
  });
  return useMemo(() => {
    const found = new Map([...live, ...past].map((one) => [one.run.key, one]));
    return keys.flatMap((key) => found.get(key) ?? []);
  }, [keys, live, past]);
}

function split(keys: readonly string[]) {
  const jobs: { key: string; job: JobRef }[] = [];
  const gone: { key: string; uid: string }[] = [];
  for (const key of keys) {
    const of = comparedOf(key);
    if (of && "job" in of) jobs.push({ key, job: of.job });
    else if (of) gone.push({ key, uid: of.uid });
  }
  return { jobs, gone };
}

function compareRun(
  key: string,
  label: string,
  answer: SeriesAnswer | undefined,
  error: Error | null,
): ComparedRun {
  const state = answer ? "ready" : error ? "failed" : "loading";
  return { run: newRun(key, label, answer), state, error };
}
