// What each pod of a job has used: since the page was opened, as metrics.k8s.io tells the present
// only, and before that as the server has recorded it.

import type { JobUsage, PodUsage, RecordedUsage } from "./types";

export interface UsageSample {
  /** Milliseconds of this machine's clock. */
  at: number;
  pods: Record<string, PodUsage>;
}

export interface UsageOverTime {
  now: JobUsage;
  history: readonly UsageSample[];
}

// Half an hour of one each five seconds.
const SAMPLES_MAX = 360;
// Of a job of a thousand pods fewer: they are kept in this tab, some 100 bytes each.
const VALUES_MAX = 100_000;
// After a longer pause, as of a tab that was in the background, a line begins anew.
const PAUSE_MS = 30_000;

/** The newest last; older ones go. */
export function withSample(
  history: readonly UsageSample[],
  sample: UsageSample,
): readonly UsageSample[] {
  const pods = Math.max(Object.keys(sample.pods).length, 1);
  const most = Math.max(1, Math.min(SAMPLES_MAX, Math.floor(VALUES_MAX / pods)));
  return [...history, sample].slice(-most);
}

export interface Point {
  at: number;
  value: number;
}

/** The lines of one pod, without the times at which it was not measured. */
export function linesOf(
  history: readonly UsageSample[],
  pod: string,
  key: keyof PodUsage,
): Point[][] {
  const lines: Point[][] = [];
  let last: number | undefined;
  for (const { at, pods } of history) {
    const used = Object.hasOwn(pods, pod) ? pods[pod] : undefined;
    if (!used || !Number.isFinite(used[key])) continue;
    const point = { at, value: used[key] };
    if (last === undefined || at - last > PAUSE_MS) lines.push([point]);
    else lines.at(-1)?.push(point);
    last = at;
  }
  return lines;
}

/** What is recorded of a replica. */
export type UsedKind = "cpu" | "memoryMiB" | "gpu" | "gpuMemoryMiB";

const COLUMNS: Record<UsedKind, number> = { cpu: 1, memoryMiB: 2, gpu: 3, gpuMemoryMiB: 4 };
// A job that has run for long is measured once a minute.
const MEASURED_S = 60;
// So many points that are missing are a pause.
const PAUSE_POINTS = 3;

/** The lines of one replica, up to a time in milliseconds. */
export function recordedLines(
  recorded: RecordedUsage | undefined,
  replica: string,
  kind: UsedKind,
  until = Infinity,
): Point[][] {
  const rows = Object.hasOwn(recorded?.replicas ?? {}, replica) ? recorded?.replicas[replica] : [];
  const pause = PAUSE_POINTS * Math.max(MEASURED_S, recorded?.every ?? 0) * 1000;
  const lines: Point[][] = [];
  let last = -Infinity;
  for (const row of rows ?? []) {
    const at = (row[0] ?? NaN) * 1000;
    const value = row[COLUMNS[kind]];
    if (value === null || value === undefined || !(at < until)) continue;
    if (at - last > pause) lines.push([{ at, value }]);
    else lines.at(-1)?.push({ at, value });
    last = at;
  }
  return lines;
}

/** What was recorded, and then what this page has seen, in one line where they meet. */
export function joinedLines(recorded: Point[][], live: Point[][]): Point[][] {
  const before = recorded.at(-1);
  const [first, ...more] = live;
  const gap = (first?.[0]?.at ?? Infinity) - (before?.at(-1)?.at ?? -Infinity);
  if (!before || !first || gap > PAUSE_POINTS * MEASURED_S * 1000) return [...recorded, ...live];
  return [...recorded.slice(0, -1), [...before, ...first], ...more];
}
