// What each pod of a job has used since the page was opened: metrics.k8s.io tells the present only.

import type { JobUsage, PodUsage } from "./types";

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
