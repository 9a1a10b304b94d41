// Everything that speaks for or against the draft: what is wrong with it, who says so, and whether
// it can be submitted.

import { useMemo } from "react";
import { useAccess } from "../../../api/queries";
import type { ApiError } from "../../../api/problem";
import type { JobKind } from "../../../api/types";
import { useSession } from "../../../app/session";
import { useText } from "../../../i18n";
import type { Issue } from "../checks/issues";
import { isNamespace, useLocalIssues, useServerIssues } from "../checks/use_issues";
import { valueAt } from "../manifest/path";
import { positionOf } from "../manifest/read";
import { placeInText } from "../manifest/spot";
import { NAMESPACE } from "../model/fields";
import { kindOf } from "../schema/schema";
import type { DraftState } from "../state/draft";
import { useDelayed } from "../state/use_delayed";
import type { ServerCheck } from "../state/use_server_check";
import { useServerCheck } from "../state/use_server_check";
import type { PlacedIssue } from "./ProblemList";

// While a namespace is typed nobody needs to know whether one may create there.
const ACCESS_PAUSE_MS = 500;

export interface Judgement {
  kind: JobKind | undefined;
  /** Where the job is made. */
  namespace: string;
  issues: PlacedIssue[];
  /** Found without asking the server. */
  errors: number;
  check: ServerCheck;
  /** Why the server refused, where it names no place, or did not answer. */
  whole: ApiError | undefined;
  warnings: string[];
  /** Why it cannot be submitted now. */
  blocked: string | undefined;
}

/** fallback: the namespace of a manifest that names none. */
export function useJudgement(state: DraftState, fallback: string): Judgement {
  const { t } = useText();
  const { readOnly, kinds, user } = useSession();
  const { draft, reading, good } = state;
  const value = good?.value ?? null;
  const kind = kindOf(value);
  const written = valueAt(value, NAMESPACE);
  const namespace = typeof written === "string" && written !== "" ? written : fallback;
  const local = useLocalIssues(state);
  const errors = local.filter(({ severity }) => severity === "error").length;
  const still = useDelayed(namespace, ACCESS_PAUSE_MS);
  const access = useAccess(still, isNamespace(still) && !readOnly);
  const denied =
    kind !== undefined && access.data?.namespace === namespace && !access.data.create[kind];
  const check = useServerCheck({
    text: draft.text,
    namespace,
    enabled: errors === 0 && !denied && !readOnly,
  });
  const server = useServerIssues(check.verdict, value, namespace);
  const issues = useMemo(() => {
    const all: Issue[] = [...local];
    if (denied && kind && kinds.includes(kind)) {
      const text = t.submit.issue.forbidden(user, kind, namespace);
      all.push({ severity: "error", path: NAMESPACE, text, foreign: false });
    }
    // What the server said of an earlier text is no news where something is wrong anyway.
    if (errors === 0) all.push(...server);
    return all.map((issue) => placed(issue, state));
  }, [local, server, errors, denied, kind, kinds, user, namespace, state, t]);
  const against = check.state === "refused" || check.state === "unanswered";
  const error = against ? check.verdict?.error : undefined;
  const blocked = blockedBy(t.submit.blocked, {
    readOnly,
    reading,
    errors,
    denied,
    state: check.state,
  });
  return {
    kind,
    namespace,
    issues,
    errors,
    check,
    whole: error && server.length === 0 ? error : undefined,
    warnings: check.state === "accepted" ? (check.verdict?.warnings ?? []) : [],
    blocked,
  };
}

function placed(issue: Issue, { draft, reading, good }: DraftState): PlacedIssue {
  if (issue.span) {
    const { from, to } = issue.span;
    return { ...issue, ...positionOf(draft.text, from, to) };
  }
  if (!reading.ok || !good || issue.path.length === 0) return { ...issue, line: 0, from: 0, to: 0 };
  return { ...issue, ...placeInText(good, issue.path) };
}

interface Blocking {
  readOnly: boolean;
  reading: DraftState["reading"];
  errors: number;
  denied: boolean;
  state: ServerCheck["state"];
}

type Words = ReturnType<typeof useText>["t"]["submit"]["blocked"];

function blockedBy(
  words: Words,
  { readOnly, reading, errors, denied }: Blocking,
): string | undefined {
  if (readOnly) return words.readOnly;
  if (errors > 0) return reading.ok ? words.problems(errors) : words.unreadable;
  return denied ? words.forbidden : undefined;
}
