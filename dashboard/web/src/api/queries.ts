// Every route of types.ts that is read or written once, as a hook. What changes by itself comes
// with the stream: see use_stream.ts.

import type { UseMutationResult, UseQueryResult } from "@tanstack/react-query";
import {
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback } from "react";
import type { ApiClient, Query } from "./client";
import type { JobRef } from "./paths";
import { jobApi, jobKey } from "./paths";
import { asApiError } from "./problem";
import { isPassing, useServices } from "./services";
import type {
  GpuMap,
  HistoryDetail,
  HistoryList,
  JobChange,
  JobDetail,
  JobList,
  JobUsage,
  KubeObject,
  LoginHelp,
  NamespaceAccess,
  QueueList,
  RecordedUsage,
  SeriesAnswer,
  Session,
  TrainingFacts,
} from "./types";
import type { UsageOverTime } from "./usage_history";
import { withSample } from "./usage_history";

type Read<T> = UseQueryResult<T>;

export const SESSION_KEY = ["session"];

function sessionQuery(api: ApiClient) {
  return queryOptions({
    queryKey: SESSION_KEY,
    // It only changes by a login; namespaces that appear later come with the rows of jobs.
    staleTime: Infinity,
    queryFn: ({ signal }) => api.get<Session>("api/session", { signal }),
  });
}

export function useSessionQuery(): Read<Session> {
  const { api } = useServices();
  return useQuery(sessionQuery(api));
}

/**
 * Asks the server whether somebody is logged in, for a page that has just been opened; not where
 * this page has no half of a session.
 */
export function useSessionHolds(): () => Promise<boolean> {
  const { api, half } = useServices();
  const queries = useQueryClient();
  return useCallback(async () => {
    if (half.get() === "") return false;
    return queries.fetchQuery(sessionQuery(api)).then(
      () => true,
      () => false,
    );
  }, [api, half, queries]);
}

export function useLoginHelp(): Read<LoginHelp> {
  return useRead<LoginHelp>(["login"], "api/login", true);
}

/** What a login sends: a bearer token, or the one-time code of `taas open`. */
export type Credential = { token: string } | { code: string };

export function useLogin(): UseMutationResult<Session, Error, Credential> {
  const { api, half, live, loginNeeded } = useServices();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (credential) => api.post<Session>("api/session", credential),
    onSuccess: (session) => {
      const before = queries.getQueryData<Session>(SESSION_KEY);
      half.set(session.half ?? "");
      if (before && before.user !== session.user) {
        queries.removeQueries({ predicate: (query) => query.queryKey[0] !== SESSION_KEY[0] });
        live.clear();
      }
      queries.setQueryData(SESSION_KEY, session);
      loginNeeded.set(false);
      live.stream.resume();
      void queries.invalidateQueries({
        predicate: (query) => query.queryKey[0] !== SESSION_KEY[0],
      });
    },
  });
}

export function useLogout(): UseMutationResult<void, Error, void> {
  const { api, half, reload } = useServices();
  return useMutation({
    mutationFn: () => api.delete("api/session"),
    onSuccess: () => {
      half.set("");
      // Nothing of this user stays in the memory of the tab.
      reload();
    },
  });
}

export function useJobList(enabled = true): Read<JobList> {
  return useRead<JobList>(["jobs"], "api/jobs", enabled);
}

/** Not an answer of before: a job that was just made is in it. */
export function useJobListNow(): Read<JobList> {
  const { api } = useServices();
  return useQuery({
    queryKey: ["jobs"],
    queryFn: ({ signal }) => api.get<JobList>("api/jobs", { signal }),
    refetchOnMount: "always",
  });
}

export function useJobOnce(job: JobRef, enabled = true): Read<JobDetail> {
  return useRead<JobDetail>(["job", jobKey(job)], jobApi(job), enabled);
}

export function useManifest(job: JobRef, enabled = true): Read<KubeObject> {
  const { api } = useServices();
  return useQuery({ ...manifestQuery(api, job), enabled });
}

type Signalled = { signal: AbortSignal };

/** For those who read several at once; what a page has read already is not read again. */
export function manifestQuery(api: ApiClient, job: JobRef) {
  return {
    queryKey: ["manifest", jobKey(job)],
    queryFn: ({ signal }: Signalled) =>
      api.get<KubeObject>(`${jobApi(job)}/manifest`, { signal }),
  };
}

export function historyQuery(api: ApiClient, uid: string) {
  return {
    queryKey: ["history", uid],
    queryFn: ({ signal }: Signalled) =>
      api.get<HistoryDetail>(`api/history/${encodeURIComponent(uid)}`, { signal }),
  };
}

export function usePod(namespace: string, name: string, enabled = true): Read<KubeObject> {
  const path = `api/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  return useRead<KubeObject>(["pod", namespace, name], path, enabled);
}

// What is measured is an average of some seconds; of a cluster that measures nothing nobody asks
// again and again.
const USAGE_MS = 5_000;
const NO_USAGE_MS = 60_000;

/** Asked for again and again while somebody looks; undefined: not known, or not wanted. */
export function useUsage(job: JobRef, enabled: boolean): UsageOverTime | undefined {
  const { api } = useServices();
  const queries = useQueryClient();
  const queryKey = ["usage", jobKey(job)];
  const { data } = useQuery<UsageOverTime>({
    queryKey,
    enabled,
    // One that fails is only the less to see.
    retry: false,
    refetchInterval: ({ state }) =>
      state.status === "error" || state.data?.now.why !== undefined ? NO_USAGE_MS : USAGE_MS,
    queryFn: async ({ signal }) => {
      const now = await api.get<JobUsage>(`${jobApi(job)}/usage`, { signal });
      const before = queries.getQueryData<UsageOverTime>(queryKey)?.history ?? [];
      return { now, history: withSample(before, { at: Date.now(), pods: now.pods }) };
    },
  });
  return enabled ? data : undefined;
}

/** What was recorded before this page was opened; undefined: not known, or not wanted. */
export function useRecordedUsage(job: JobRef, enabled: boolean): RecordedUsage | undefined {
  const { api } = useServices();
  const { data } = useQuery<RecordedUsage>({
    queryKey: ["recorded usage", jobKey(job)],
    enabled,
    // One that fails is only the less to see.
    retry: false,
    // GPUs are in it alone.
    refetchInterval: NO_USAGE_MS,
    queryFn: ({ signal }) =>
      api.get<RecordedUsage>(`${jobApi(job)}/usage/recorded`, { signal }),
  });
  return enabled ? data : undefined;
}

// Trainers count over a second, and a person reads for longer.
const FACTS_MS = 5_000;
const NO_FACTS_MS = 60_000;

/**
 * Asked for again and again while the job runs; undefined: not known. Of one that is gone what was
 * seen last: nobody can be asked.
 */
export function useTrainingFacts(
  job: JobRef,
  { runs, over, gone }: { runs: boolean; over: boolean; gone: boolean },
): TrainingFacts | undefined {
  const { api } = useServices();
  const { data } = useQuery<TrainingFacts>({
    // Once it is over there is more to know, also where its pods had ended before.
    queryKey: ["training", jobKey(job), runs, over],
    enabled: !gone,
    placeholderData: (before) => before,
    // One that fails is only the less to see.
    retry: false,
    refetchInterval: ({ state }) => {
      if (!runs) return false;
      return state.status === "error" || state.data?.source === undefined ? NO_FACTS_MS : FACTS_MS;
    },
    queryFn: ({ signal }) => api.get<TrainingFacts>(`${jobApi(job)}/training`, { signal }),
  });
  return data;
}

/** For a loop that asks again with the last step that it has. */
export function readSeries(
  api: ApiClient,
  job: JobRef,
  since: number | undefined,
  signal: AbortSignal,
): Promise<SeriesAnswer> {
  return api.get<SeriesAnswer>(`${jobApi(job)}/series`, { query: { since }, signal });
}

export function useGpusOnce(enabled = true): Read<GpuMap> {
  return useRead<GpuMap>(["gpus"], "api/gpus", enabled);
}

export function useQueuesOnce(enabled = true): Read<QueueList> {
  return useRead<QueueList>(["queues"], "api/queues", enabled);
}

export function useAccess(namespace: string, enabled = true): Read<NamespaceAccess> {
  return useRead<NamespaceAccess>(["access", namespace], "api/access", enabled, { namespace });
}

export interface HistoryFilter {
  namespace?: string;
  text?: string;
}

// A screen or two; the next page comes when one scrolls on.
const HISTORY_PAGE = 100;

export function useHistory(filter: HistoryFilter) {
  const { api } = useServices();
  return useInfiniteQuery({
    queryKey: ["history", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api.get<HistoryList>("api/history", {
        query: { ...filter, before: pageParam, limit: HISTORY_PAGE },
        signal,
      }),
    getNextPageParam: (last) => last.next,
  });
}

// The history has a job that was just deleted some seconds later.
const RECORDED_TRIES = 15;
const RECORDED_MS = 1_000;

/** Asks again for one that is not there yet; failureReason says NotFound meanwhile. */
export function useHistoryDetail(uid: string): Read<HistoryDetail> {
  const { api } = useServices();
  return useQuery({
    ...historyQuery(api, uid),
    retry: (failures, error) =>
      asApiError(error).reason === "NotFound"
        ? failures < RECORDED_TRIES
        : isPassing(failures, error),
    retryDelay: RECORDED_MS,
  });
}

export function useChangeJob(): UseMutationResult<void, Error, { job: JobRef; change: JobChange }> {
  const { api } = useServices();
  return useMutation({ mutationFn: ({ job, change }) => changeJob(api, job, change) });
}

export function useDeleteJob(): UseMutationResult<void, Error, JobRef> {
  const { api } = useServices();
  return useMutation({ mutationFn: (job) => deleteJob(api, job) });
}

export async function changeJob(api: ApiClient, job: JobRef, change: JobChange): Promise<void> {
  await api.patch<unknown>(jobApi(job), change);
}

export function deleteJob(api: ApiClient, job: JobRef): Promise<void> {
  return api.delete(jobApi(job));
}

function useRead<T>(key: unknown[], path: string, enabled: boolean, query: Query = {}): Read<T> {
  const { api } = useServices();
  return useQuery({
    queryKey: key,
    enabled,
    queryFn: ({ signal }) => api.get<T>(path, { query, signal }),
  });
}
