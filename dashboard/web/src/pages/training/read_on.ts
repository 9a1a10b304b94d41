// The next reading of a job's curves, given the one before.

import type { SeriesAnswer } from "../../api/types";
import { endOf, isEmpty, keepSeen, mergeSeries, sinceOf } from "./merge";

export interface Reading {
  answer: SeriesAnswer;
  reads: number;
}

// An evaluator's first point is older than the newest of the training, and so is not in an answer
// that begins there. Half a minute of reading bit by bit is what such a point waits at most.
export const WHOLE_EVERY = 15;

type Read = (since: number | undefined) => Promise<SeriesAnswer>;

export async function readOn(read: Read, known: Reading | undefined): Promise<Reading> {
  const reads = (known?.reads ?? 0) + 1;
  const since = reads % WHOLE_EVERY === 0 ? undefined : sinceOf(known?.answer);
  const answer = await read(since);
  const silent = answer.source === undefined;
  // What was recorded may end before what was seen.
  if (known && silent && (isEmpty(answer) || endOf(answer) < endOf(known.answer))) {
    return { answer: keepSeen(known.answer, answer), reads };
  }
  if (!known || since === undefined) return { answer, reads };
  const merged = mergeSeries(known.answer, answer, since);
  return { answer: merged ?? (await read(undefined)), reads };
}
