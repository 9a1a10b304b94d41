// Asks the server by a dry run what it would say to the manifest, a moment after it was changed.

import { useCallback, useEffect, useState } from "react";
import type { ApiError, ErrorReason } from "../../../api/problem";
import { asApiError } from "../../../api/problem";
import { useServices } from "../../../api/services";
import type { Created } from "../../../api/types";

// A pause in typing; each dry run is a request to the API server.
const PAUSE_MS = 700;
// Who does not answer has refused nothing, and is asked again.
const AGAIN_MS = 5_000;
const NO_ANSWER: readonly ErrorReason[] = [
  "Network",
  "Unavailable",
  "BadAnswer",
  "TooManyRequests",
];

export interface Verdict {
  /** Of what: see keyOf(). */
  key: string;
  at: number;
  warnings: string[];
  /** Why it was refused. */
  error: ApiError | undefined;
}

export interface ServerCheck {
  state: "off" | "checking" | "accepted" | "refused" | "unanswered";
  /** The newest; while `checking` it is that of an earlier text. */
  verdict: Verdict | undefined;
  checkNow: () => void;
  /** What came of the real submission. */
  report: (error: ApiError) => void;
}

interface Asked {
  text: string;
  namespace: string;
  /** False: something is known to be wrong, or nothing may be asked. */
  enabled: boolean;
}

export function useServerCheck({ text, namespace, enabled }: Asked): ServerCheck {
  const { api } = useServices();
  const [verdict, setVerdict] = useState<Verdict>();
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify([namespace, text, turn]);
  const known = verdict?.key === key;
  useEffect(() => {
    if (!enabled || known) return undefined;
    const leaving = new AbortController();
    const ask = async (): Promise<void> => {
      let warnings: string[] = [];
      let error: ApiError | undefined;
      try {
        const query = { dryRun: true, namespace };
        const { signal } = leaving;
        ({ warnings } = await api.postText<Created>("api/jobs", text, { query, signal }));
      } catch (thrown) {
        error = asApiError(thrown);
      }
      if (!leaving.signal.aborted) setVerdict({ key, at: Date.now(), warnings, error });
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [api, text, namespace, enabled, key, known]);
  const checkNow = useCallback(() => setTurn((before) => before + 1), []);
  const unanswered = verdict?.error !== undefined && NO_ANSWER.includes(verdict.error.reason);
  useEffect(() => {
    if (!enabled || !known || !unanswered) return undefined;
    const timer = setTimeout(checkNow, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [enabled, known, unanswered, checkNow]);
  const report = useCallback(
    (error: ApiError) => setVerdict({ key, at: Date.now(), warnings: [], error }),
    [key],
  );
  return { state: stateOf(), verdict, checkNow, report };

  function stateOf(): ServerCheck["state"] {
    if (!enabled) return "off";
    if (unanswered) return "unanswered";
    if (!known) return "checking";
    return verdict.error ? "refused" : "accepted";
  }
}
