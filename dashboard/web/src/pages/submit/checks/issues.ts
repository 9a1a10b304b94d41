// One thing that is wrong with the job, from whoever found it, in words for the user.

import type { Path } from "../manifest/path";
import { isWithin, pathText } from "../manifest/path";

export interface Issue {
  severity: "error" | "warning";
  /** Where it is; empty: the job as a whole. */
  path: Path;
  text: string;
  /** The text is the cluster's own, in English. */
  foreign: boolean;
  /** Of the text of the manifest, where it is not the place of `path`. */
  span?: { from: number; to: number };
}

export function issueKey(issue: Issue): string {
  return `${issue.severity} ${pathText(issue.path)} ${issue.span?.from ?? ""} ${issue.text}`;
}

/** Those of a field: of itself, and of what is inside of it. */
export function issuesWithin(issues: readonly Issue[], path: Path): Issue[] {
  return issues.filter((issue) => isWithin(issue.path, path));
}
