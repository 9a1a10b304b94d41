// What programs and the cluster say of a replica, as a person reads it.

import type { HealthReason } from "../../api/types";
import { wordFor } from "../../i18n";
import type { Texts } from "../../i18n/en";

/** A termination message: of the contract's JSON the sentence and the step, else the text. */
export function saidWords(said: string, t: Texts): string {
  if (!said.startsWith("{")) return said;
  let read: unknown;
  try {
    read = JSON.parse(said);
  } catch {
    return said;
  }
  const { message, step } = read as { message?: unknown; step?: unknown };
  if (typeof message !== "string" || message === "") return said;
  return typeof step === "number" ? t.job.atStep(message, step) : message;
}

/** Of a pod, "Reason: {…}"; without the reason where that stands beside it: `shown`. */
export function whyWords(why: string, t: Texts, shown?: string): string {
  const [, reason, said] = /^(\w+): (.+)$/s.exec(why) ?? [];
  if (reason === undefined || said === undefined) return saidWords(why, t);
  const words = saidWords(said, t);
  return reason === shown ? words : `${reason}: ${words}`;
}

/** What to do. Where the program was not even started there is no log to read. */
export function adviceFor(reason: HealthReason, notStarted: boolean, t: Texts): string {
  const log = LOG_HELPS.includes(reason);
  return log && notStarted ? t.job.adviceNotStarted : wordFor(t.job.advice, reason);
}

/** Those after which the lines before the end of a log say more than anything else. */
export const LOG_HELPS: readonly string[] = [
  "CrashLoop",
  "Failed",
  "PodFailed",
  "OutOfMemory",
  "NoProgress",
  "RestartedLately",
];
