// Histograms of a job's event files, with numbers where the answers have texts.
//
//   const { histograms } = await readHistograms(api, job, { run: ".", tag: "w" }, signal);

import type { ApiClient } from "./client";
import type { JobRef } from "./paths";
import { eventsApi } from "./paths";
import type {
  Distributions,
  EventsState,
  HistogramSeries,
  HistogramTag,
  HistogramTags,
  JsonNumber,
} from "./types";

export interface Histogram {
  step: number;
  /** Seconds since 1970. */
  wall: number;
  min: number;
  max: number;
  /** One more than counts; both are empty where nothing was counted. */
  edges: number[];
  counts: number[];
  /** The sum of the counts. */
  total: number;
}

export interface Distribution {
  step: number;
  wall: number;
  /** At the basis points of BASIS_POINTS. */
  values: number[];
}

/** -∞, -1.5σ, -σ … +∞ of a normal distribution, in ten-thousandths. */
export const BASIS_POINTS = [0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000] as const;

export interface Events {
  state: EventsState;
  tags: HistogramTag[];
}

export interface HistogramChoice {
  run: string;
  tag: string;
  /** undefined: all. */
  steps?: readonly [number, number] | undefined;
}

export interface Histograms {
  histograms: Histogram[];
  inRange: number;
}

export async function readEvents(
  api: ApiClient,
  job: JobRef,
  signal: AbortSignal,
): Promise<Events> {
  const state = await api.get<EventsState>(eventsApi(job), { signal });
  if (state.runs === 0) return { state, tags: [] };
  const path = `${eventsApi(job)}/data/histograms/tags`;
  const { tags } = await api.get<HistogramTags>(path, { signal });
  return { state, tags };
}

export async function readHistograms(
  api: ApiClient,
  job: JobRef,
  { run, tag, steps }: HistogramChoice,
  signal: AbortSignal,
): Promise<Histograms> {
  const path = `${eventsApi(job)}/data/histograms/series`;
  const query = { run, tag, steps: steps && `${Math.ceil(steps[0])}..${Math.floor(steps[1])}` };
  const series = await api.get<HistogramSeries>(path, { query, signal });
  return { inRange: series.inRange, histograms: series.histograms.map(histogramOf) };
}

export async function readDistributions(
  api: ApiClient,
  job: JobRef,
  { run, tag }: HistogramChoice,
  signal: AbortSignal,
): Promise<Distribution[]> {
  const path = `${eventsApi(job)}/data/plugin/distributions/distributions`;
  const answer = await api.get<Distributions>(path, { query: { run, tag }, signal });
  return answer.map(([wall, step, points]) => {
    const values = new Map(points.map(([point, value]) => [point, Number(value)]));
    return {
      step,
      wall: Number(wall),
      values: BASIS_POINTS.map((point) => values.get(point) ?? NaN),
    };
  });
}

export function histogramOf(one: HistogramSeries["histograms"][number]): Histogram {
  const counts = numbers(one.counts);
  return {
    step: one.step,
    wall: Number(one.wall),
    min: Number(one.min),
    max: Number(one.max),
    edges: numbers(one.edges),
    counts,
    total: counts.reduce((sum, count) => (count > 0 ? sum + count : sum), 0),
  };
}

function numbers(values: readonly JsonNumber[]): number[] {
  return values.map(Number);
}
