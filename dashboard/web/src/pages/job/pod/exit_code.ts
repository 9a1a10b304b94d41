// What an exit code says about a replica, by the table of docs/contract.md.

import type { JobKind } from "../../../api/types";

export type ExitMeaning =
  | "done"
  | "outOfMemory"
  | "badNode"
  | "restartMe"
  | "interrupted"
  | "killed"
  | "stopped"
  | "abort"
  | "segfault"
  | "signal"
  | "notStarted"
  | "failed";

/** What follows under restart policy ExitCode with the kind's own preset. */
export type ExitEffect = "completed" | "restarts" | "badNode" | "fails";

const MEANINGS: Record<number, ExitMeaning> = {
  130: "interrupted",
  134: "abort",
  137: "killed",
  138: "restartMe",
  139: "segfault",
  143: "stopped",
};
// The rest of the codes above 128 are signals by the convention of shells; 255 is "-1".
const SIGNALS_TO = 192;
const RETRYABLE: readonly number[] = [130, 137, 138, 143];

/** The kubelet's words for a program that could not be started: it has written nothing. */
const NOT_STARTED: readonly (string | undefined)[] = ["StartError", "ContainerCannotRun"];

export function isNotStarted(reason: string | undefined): boolean {
  return NOT_STARTED.includes(reason);
}

export function exitMeaning(code: number, reason: string | undefined, kind: JobKind): ExitMeaning {
  if (reason === "OOMKilled") return "outOfMemory";
  if (isNotStarted(reason)) return "notStarted";
  if (code === 0) return "done";
  // A TFJob has no trainer of ours that would say so.
  if (code === 3 && kind === "TrainingJob") return "badNode";
  return MEANINGS[code] ?? (code > 128 && code <= SIGNALS_TO ? "signal" : "failed");
}

export function exitEffect(code: number, reason: string | undefined, kind: JobKind): ExitEffect {
  if (reason === "OOMKilled") return "restarts";
  if (code === 0) return "completed";
  if (kind === "TFJob") return code >= 128 ? "restarts" : "fails";
  if (code === 3) return "badNode";
  return RETRYABLE.includes(code) ? "restarts" : "fails";
}
