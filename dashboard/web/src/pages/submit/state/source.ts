// What the page was opened with, from its address:
//
//   /submit                                 a new job
//   /submit?clone=ml/trainingjobs/mnist     a copy of a job
//   /submit?cloneHistory=UID                a copy of a job that is gone

import type { JobRef } from "../../../api/paths";
import { kindOfPlural } from "../../../api/paths";

export type Source =
  | { from: "new" }
  | { from: "clone"; job: JobRef }
  | { from: "history"; uid: string }
  /** An address that names no job. */
  | { from: "unknown"; clone: string };

export function sourceOf(search: URLSearchParams): Source {
  const uid = search.get("cloneHistory");
  if (uid) return { from: "history", uid };
  const clone = search.get("clone");
  if (clone === null) return { from: "new" };
  const [namespace, plural, name, ...more] = clone.split("/");
  const kind = kindOfPlural(plural);
  if (!namespace || !kind || !name || more.length > 0) return { from: "unknown", clone };
  return { from: "clone", job: { kind, namespace, name } };
}

/** Of the draft that belongs to it. */
export function keyOfSource(source: Source): string {
  switch (source.from) {
    case "clone":
      return `clone/${source.job.namespace}/${source.job.kind}/${source.job.name}`;
    case "history":
      return `history/${source.uid}`;
    case "new":
    case "unknown":
      return "";
  }
}
