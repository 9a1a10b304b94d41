// What has happened to a job, from three sources in one order: conditions, events, restarts.
//
//   const entries = timelineOf({ conditions, events, restartHistory });   // newest first

import type { ClusterEvent, Condition, RestartRecord } from "../../../api/types";
import { replicaName } from "../names";

export type EntryKind = "condition" | "warning" | "event" | "restart";
export const ENTRY_KINDS: readonly EntryKind[] = ["condition", "warning", "event", "restart"];

export interface Entry {
  key: string;
  kind: EntryKind;
  at: string;
  /** Of a group the oldest that is known, where that differs. */
  since?: string;
  /** "job" or a replica. */
  about: string;
  /** A code: of the condition, the event, or the restart's cause. */
  title: string;
  message: string;
  count: number;
  /** Of a condition: false is "no longer". */
  status?: boolean;
  reason?: string;
  restart?: RestartRecord;
}

/** Between entries: the attempt that everything newer belongs to. */
export interface AttemptMark {
  key: string;
  attempt: number;
}

interface Sources {
  conditions: readonly Condition[];
  events: readonly ClusterEvent[];
  restartHistory?: readonly RestartRecord[];
}

function ofCondition(condition: Condition): Entry {
  return {
    key: `condition ${condition.type}`,
    kind: "condition",
    at: condition.at,
    about: "job",
    title: condition.type,
    message: condition.message,
    count: 1,
    status: condition.status,
    reason: condition.reason,
  };
}

function ofEvent(event: ClusterEvent): Entry {
  return {
    key: `event ${event.about} ${event.reason} ${event.at} ${event.message}`,
    kind: event.type === "Warning" ? "warning" : "event",
    at: event.at,
    about: event.about,
    title: event.reason,
    message: event.message,
    count: Math.max(1, event.count),
  };
}

function ofRestart(record: RestartRecord): Entry {
  const about = replicaName(record);
  return {
    key: `restart ${about} ${record.attempt} ${record.podNumber} ${record.at}`,
    kind: "restart",
    at: record.at,
    about,
    title: record.cause,
    message: record.message,
    count: 1,
    restart: record,
  };
}

/** A time that is none is the oldest: it must not hide what is new. */
function timeOf(at: string): number {
  const time = Date.parse(at);
  return Number.isNaN(time) ? 0 : time;
}

function sameThing(a: Entry, b: Entry): boolean {
  return (
    a.kind === b.kind && a.about === b.about && a.title === b.title && a.message === b.message
  );
}

/** Neighbours that say the same become one with their count; keys stay those of the newest. */
function grouped(entries: readonly Entry[]): Entry[] {
  const out: Entry[] = [];
  for (const entry of entries) {
    const newer = out.at(-1);
    const repeats = newer && (entry.kind === "event" || entry.kind === "warning");
    if (repeats && sameThing(newer, entry)) {
      out[out.length - 1] = { ...newer, count: newer.count + entry.count, since: entry.at };
    } else {
      out.push(entry);
    }
  }
  return out;
}

/** Of what happened in one second: a job's end is what the others led to. */
function isEnd({ kind, title }: Entry): number {
  return kind === "condition" && (title === "Failed" || title === "Succeeded") ? 1 : 0;
}

/** Newest first; what happened at the same time keeps the order of the cluster, newest last. */
export function timelineOf({ conditions, events, restartHistory = [] }: Sources): Entry[] {
  const all = [
    ...conditions.map(ofCondition),
    ...events.map(ofEvent),
    ...restartHistory.map(ofRestart),
  ];
  const ordered = all
    .map((entry, place) => ({ entry, place, time: timeOf(entry.at) }))
    .sort(
      (a, b) => b.time - a.time || isEnd(b.entry) - isEnd(a.entry) || b.place - a.place,
    );
  const seen = new Map<string, number>();
  return grouped(ordered.map(({ entry }) => entry)).map((entry) => {
    // Two that are alike to the last letter still need keys of their own.
    const times = seen.get(entry.key) ?? 0;
    seen.set(entry.key, times + 1);
    return times === 0 ? entry : { ...entry, key: `${entry.key} ${times}` };
  });
}

/**
 * Marks where an attempt began: with the last restart of the one before. An attempt that began
 * without a restart, as after a suspension, has no record that says when, and no mark.
 */
export function withAttempts(entries: readonly Entry[], attempt: number): (Entry | AttemptMark)[] {
  const out: (Entry | AttemptMark)[] = [];
  let newer = attempt;
  for (const entry of entries) {
    const of = entry.restart?.attempt;
    if (of !== undefined && of < newer) {
      if (of === newer - 1) out.push({ key: `attempt ${newer}`, attempt: newer });
      newer = of;
    }
    out.push(entry);
  }
  return out;
}

/** Beside each row: the day that begins with it, undefined where that is the day before it. */
export function dayHeadings(
  rows: readonly (Entry | AttemptMark)[],
  dayOf: (at: string) => string,
): (string | undefined)[] {
  let day = "";
  return rows.map((row) => {
    const before = day;
    if ("at" in row) day = dayOf(row.at);
    return day === before ? undefined : day;
  });
}

export interface TimelineFilter {
  kinds: readonly EntryKind[];
  /** "": of all. */
  about: string;
}

export function matching(entries: readonly Entry[], filter: TimelineFilter): Entry[] {
  return entries.filter(
    ({ kind, about }) =>
      (filter.kinds.length === 0 || filter.kinds.includes(kind)) &&
      (filter.about === "" || filter.about === about),
  );
}

/** Whom entries are about: the job, then replicas in their natural order. */
export function subjectsOf(entries: readonly Entry[]): string[] {
  const subjects = new Set(entries.map(({ about }) => about));
  subjects.delete("job");
  const replicas = [...subjects].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return ["job", ...replicas];
}
