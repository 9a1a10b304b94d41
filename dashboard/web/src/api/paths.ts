// Where things are: in the API, and in this page.

import type { JobKind } from "./types";

export interface JobRef {
  kind: JobKind;
  namespace: string;
  name: string;
}

const PLURALS: Record<JobKind, string> = { TrainingJob: "trainingjobs", TFJob: "tfjobs" };

export function kindOfPlural(plural: string | undefined): JobKind | undefined {
  const all = Object.keys(PLURALS) as JobKind[];
  return all.find((kind) => PLURALS[kind] === plural);
}

/** namespace/plural/name: the key of a job in paths and in the stream's topic. */
export function jobKey(job: JobRef): string {
  return [job.namespace, PLURALS[job.kind], job.name].map(encodeURIComponent).join("/");
}

export function jobApi(job: JobRef): string {
  return `api/jobs/${jobKey(job)}`;
}

/** Of its event files. */
export function eventsApi(job: JobRef): string {
  return `${jobApi(job)}/events`;
}

export type JobTab = "logs" | "training";

/** For a router link, below the base. */
export function jobPage(job: JobRef, tab?: JobTab): string {
  return `/jobs/${jobKey(job)}${tab ? `/${tab}` : ""}`;
}
