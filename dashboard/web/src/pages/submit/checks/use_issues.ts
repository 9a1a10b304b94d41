// All that is wrong with a draft, in words: of the reader of YAML, of the schema, of the bundled
// trainer, of the cluster. A field that the schema refuses is not also shown with what the server
// said of it before.

import { useMemo } from "react";
import { useText } from "../../../i18n";
import type { Texts } from "../../../i18n/en";
import type { JobKind } from "../../../api/types";
import { useSession } from "../../../app/session";
import type { Json, Path } from "../manifest/path";
import { valueAt } from "../manifest/path";
import type { Manifest } from "../manifest/read";
import { NAME, NAMESPACE } from "../model/fields";
import { nameLengthMax } from "../model/names";
import type { SchemaIssue } from "../schema/check";
import { checkManifest } from "../schema/check";
import { kindOf, SCHEMAS } from "../schema/schema";
import type { DraftState } from "../state/draft";
import type { Verdict } from "../state/use_server_check";
import type { Issue } from "./issues";
import { findingsOf } from "./server_issues";
import type { TrainerFinding } from "./trainer_findings";
import { trainerFindings } from "./trainer_findings";

type Words = Texts["submit"];

const NAMESPACE_PATTERN = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function isNamespace(text: string): boolean {
  return NAMESPACE_PATTERN.test(text);
}

/** Those that need no server: the text itself, the schema, names. */
export function useLocalIssues(state: DraftState): Issue[] {
  const { t } = useText();
  const { kinds } = useSession();
  const { reading, refused } = state;
  return useMemo(() => {
    if (!reading.ok) {
      return reading.problems.map(({ code, from, to }) => ({
        // What is too large for the form is not too large for the server.
        severity: code === "TooLarge" ? "warning" : "error",
        path: [],
        text: t.submit.yamlError[code],
        foreign: false,
        span: { from, to },
      }));
    }
    const issues = manifestIssues(t.submit, reading.manifest, kinds);
    if (refused) issues.push(own(refused, t.submit.issue.refusedEdit, "warning"));
    return issues;
  }, [t, kinds, reading, refused]);
}

function own(path: Path, text: string, severity: Issue["severity"] = "error"): Issue {
  return { severity, path, text, foreign: false };
}

function manifestIssues(words: Words, manifest: Manifest, kinds: readonly JobKind[]): Issue[] {
  const { value } = manifest;
  const kind = kindOf(value);
  if (!kind) return [own(["kind"], words.issue.oneOf(Object.keys(SCHEMAS)))];
  const issues = checkManifest(kind, value).map((issue) =>
    own(issue.path, findingText(words, issue)),
  );
  if (!kinds.includes(kind)) issues.push(own(["kind"], words.issue.noKind));
  const at = (path: Path): boolean => issues.some((issue) => issue.path.join() === path.join());
  const name = valueAt(value, NAME);
  const max = nameLengthMax(kind, value);
  if (typeof name === "string" && name.length > max && !at(NAME)) {
    issues.push(own(NAME, words.issue.longName(max)));
  }
  const namespace = valueAt(value, NAMESPACE);
  if (typeof namespace === "string" && !isNamespace(namespace) && !at(NAMESPACE)) {
    issues.push(own(NAMESPACE, words.issue.namespace));
  }
  for (const finding of trainerFindings(value)) {
    issues.push(own(finding.path, trainerText(words, finding), "warning"));
  }
  return issues;
}

function findingText(words: Words, { path, finding }: SchemaIssue): string {
  const { issue } = words;
  switch (finding.code) {
    case "unknownField":
      return issue.unknownField(finding.name);
    case "type":
      return issue.type(finding.wanted);
    case "oneOf":
      return issue.oneOf(finding.values);
    case "pattern":
      return path.join() === NAME.join() ? issue.name : issue.pattern(finding.pattern);
    case "required":
    case "time":
    case "twice":
      return issue[finding.code];
    case "above":
    case "atLeast":
    case "atMost":
    case "below":
    case "fewer":
    case "longer":
    case "more":
    case "shorter":
      return issue[finding.code](finding.bound);
  }
}

function trainerText({ issue }: Words, finding: TrainerFinding): string {
  switch (finding.code) {
    case "mustGrow":
    case "needsColumns":
    case "startsAtZero":
      return issue[finding.code];
    case "hasCategories":
      return issue.hasCategories(finding.type, finding.name);
    case "ofAnother":
      return issue.ofAnother(finding.owner, finding.name);
    case "needsLayers":
    case "noColumn":
    case "noFeature":
    case "unknownModel":
    case "unknownOptimizer":
      return issue[finding.code](finding.name);
  }
}

/** Of the server's last verdict, as far as it names places. */
export function useServerIssues(
  verdict: Verdict | undefined,
  value: Json,
  namespace: string,
): Issue[] {
  const { t } = useText();
  return useMemo(() => {
    if (!verdict?.error) return [];
    const { reason } = verdict.error;
    return findingsOf(verdict.error, value).map(({ path, message }): Issue => {
      const name = valueAt(value, NAME);
      const taken = reason === "Conflict" && typeof name === "string";
      if (taken) return own(path, t.submit.issue.taken(name, namespace));
      return { severity: "error", path, text: message, foreign: true };
    });
  }, [t, verdict, value, namespace]);
}
