// What the event files of a job hold, read again while they grow. The lists are small and come
// every few seconds; the histograms of a tag, which may be megabytes, only when there are new ones
// and somebody looks at them.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Distribution, Events, Histograms } from "../../../api/events";
import { readDistributions, readEvents, readHistograms } from "../../../api/events";
import type { JobRef } from "../../../api/paths";
import { jobKey } from "../../../api/paths";
import { useServices } from "../../../api/services";
import type { EventsState, HistogramTag } from "../../../api/types";
import type { Span } from "../scale";

const LIVE_MS = 5_000;
// Of files that nobody serves now, or after an error.
const SILENT_MS = 15_000;
// The answers are large: they go soon after the page that shows them.
const KEPT_MS = 30_000;

export interface Read<T> {
  data: T | undefined;
  error: Error | null;
  /** When the data came, in ms since 1970. */
  at: number;
  refetch: () => void;
}

function isWhole({ bytes, bytesTotal, message }: EventsState): boolean {
  return message !== "" || bytes >= bytesTotal;
}

/** over: the job writes no more. watch: somebody looks. */
export function useEvents(job: JobRef, over: boolean, watch: boolean): Read<Events> {
  const { api } = useServices();
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: ["events", jobKey(job)],
    enabled: watch,
    queryFn: ({ signal }) => readEvents(api, job, signal),
    // A hidden tab stops it by itself.
    refetchInterval: ({ state }) => {
      if (state.error || !state.data) return SILENT_MS;
      const now = state.data.state;
      if (over && isWhole(now)) return false;
      return now.source === "" ? SILENT_MS : LIVE_MS;
    },
  });
  const wasOver = useRef(over);
  useEffect(() => {
    // The last histograms came after the last reading.
    if (over && !wasOver.current && watch) void refetch();
    wasOver.current = over;
  }, [over, watch, refetch]);
  return { data, error, at: dataUpdatedAt, refetch: () => void refetch() };
}

/** It changes when the tag has other histograms than before. */
export function versionOf({ count, firstStep, lastStep }: HistogramTag): string {
  return [count, firstStep, lastStep].join(" ");
}

// As many as the server gives at once.
const SHOWN = 51;
// The largest answers have 51 × 1,549 × 2 numbers: those come every 20 s, usual ones every 8 s.
const NUMBERS_PER_MS = 10;

export function pauseOf({ count, bins }: HistogramTag): number {
  return LIVE_MS + (2 * Math.min(count, SHOWN) * bins) / NUMBERS_PER_MS;
}

interface Wanted {
  job: JobRef;
  tag: HistogramTag;
  watch: boolean;
}

function useOfTag<T>(
  { job, tag, watch }: Wanted,
  what: readonly unknown[],
  read: (signal: AbortSignal) => Promise<T>,
): Read<T> {
  const version = versionOf(tag);
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: [...what, jobKey(job), tag.run, tag.tag],
    enabled: watch,
    queryFn: async ({ signal }) => ({ version, value: await read(signal) }),
    // What is of this version stays true; what is older is read again when it comes into view, and
    // while it is there at the pace of its size.
    staleTime: ({ state }) => (state.data?.version === version ? Infinity : 0),
    refetchInterval: ({ state }) => (state.data?.version === version ? false : pauseOf(tag)),
    gcTime: KEPT_MS,
    // To compare 100,000 numbers with those before costs more than to draw them.
    structuralSharing: false,
    placeholderData: keepPreviousData,
  });
  return { data: data?.value, error, at: dataUpdatedAt, refetch: () => void refetch() };
}

export function useHistograms(wanted: Wanted, steps: Span | undefined): Read<Histograms> {
  const { api } = useServices();
  const { job, tag } = wanted;
  return useOfTag(wanted, ["histograms", steps], (signal) =>
    readHistograms(api, job, { run: tag.run, tag: tag.tag, steps }, signal),
  );
}

export function useDistributions(wanted: Wanted): Read<Distribution[]> {
  const { api } = useServices();
  const { job, tag } = wanted;
  return useOfTag(wanted, ["distributions"], (signal) =>
    readDistributions(api, job, { run: tag.run, tag: tag.tag }, signal),
  );
}
