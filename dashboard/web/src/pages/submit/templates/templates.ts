// The manifests to start from: the repository's examples, and a few of the page's own.

import type { JobKind } from "../../../api/types";
import type { Op } from "../manifest/edit";
import { applyOps } from "../manifest/edit";
import type { Json } from "../manifest/path";
import { valueAt } from "../manifest/path";
import { readManifest } from "../manifest/read";
import { ownDirectoryOps, withDirectories } from "../model/directories";
import { NAME, NAMESPACE, OWNER } from "../model/fields";
import { freeName, nameLengthMax } from "../model/names";
import type { Program } from "../model/roles";
import { gpusOf, gpusPath, presentRoles, programOf, replicasOf, roleOf } from "../model/roles";
import { kindOf } from "../schema/schema";
import EXAMPLES from "./examples.json";
import ownImageGpu from "./own-image-gpu.yaml?raw";
import ownWorkers from "./own-workers.yaml?raw";
import quick from "./quick.yaml?raw";
import tfjobOwn from "./tfjob-own.yaml?raw";

export interface Template {
  id: string;
  text: string;
  kind: JobKind;
  program: Program;
  /** "chief 1 + ps 2 + worker 2" */
  roles: string;
}

const OWN: Record<string, string> = {
  quick,
  "own-workers": ownWorkers,
  "own-image-gpu": ownImageGpu,
  "tfjob-own": tfjobOwn,
};
// The first is the one that the page begins with; an example that is not here comes at the end.
const ORDER = [
  "mnist",
  "quick",
  "mnist-local",
  "softmax",
  "lenet",
  "resnet20",
  "lstm",
  "gpt2",
  "wide-deep",
  "csv",
  "tfrecord",
  "layers",
  "async",
  "bounded-staleness",
  "sync",
  "sync-backup",
  "all-reduce",
  "all-reduce-elastic",
  "towers",
  "evaluator",
  "own-workers",
  "own-image",
  "own-image-gpu",
  "tfjob-own",
  "tfjob",
];
/** For whoever changes what runs in the form. */
export const FIRST_OF: Record<Program, string> = {
  bundled: "mnist",
  own: "own-workers",
  tfjob: "tfjob-own",
};

export const TEMPLATES: readonly Template[] = allTemplates();

function allTemplates(): Template[] {
  const texts = new Map(Object.entries({ ...EXAMPLES, ...OWN }));
  const ids = [...ORDER, ...[...texts.keys()].filter((id) => !ORDER.includes(id))];
  return ids.flatMap((id) => {
    const text = texts.get(id);
    return text === undefined ? [] : [templateOf(id, text)];
  });
}

function templateOf(id: string, text: string): Template {
  const value = valueOf(text);
  const kind = kindOf(value) ?? "TrainingJob";
  const roles = presentRoles(kind, value).map((place) => `${place.role} ${replicasOf(place)}`);
  return { id, text, kind, program: programOf(kind, value), roles: roles.join(" + ") };
}

function valueOf(text: string): Json {
  const reading = readManifest(text);
  return reading.ok ? reading.manifest.value : null;
}

export function templateById(id: string): Template {
  const found = TEMPLATES.find((one) => one.id === id) ?? TEMPLATES[0];
  if (!found) throw new Error("the page has no templates");
  return found;
}

export interface Person {
  user: string;
  namespace: string;
  /** Names of jobs there. */
  taken: ReadonlySet<string>;
}

/**
 * With the user's namespace and name in it, a name that no job has, and directories that are not
 * every job's of that name.
 */
export function personal(text: string, { user, namespace, taken }: Person): string {
  const named = withFreeName(text, taken);
  return applyOps(named, [
    { set: NAMESPACE, value: namespace },
    { set: OWNER, value: user },
    ...ownDirectoryOps(valueOf(named)),
  ]);
}

function withFreeName(text: string, taken: ReadonlySet<string>): string {
  const value = valueOf(text);
  const kind = kindOf(value);
  const name = valueAt(value, NAME);
  if (!kind || typeof name !== "string" || !taken.has(name)) return text;
  const free = freeName(name, nameLengthMax(kind, value), taken);
  return applyOps(text, [{ set: NAME, value: free }]);
}

/** Name, namespace, owner, workers and GPUs of `old`, in another template. */
export function carriedOver(text: string, old: Json, gpuResource: string): string {
  const from = kindOf(old);
  const value = valueOf(text);
  const to = kindOf(value);
  if (!from || !to) return text;
  const ops: Op[] = [];
  for (const path of [NAME, NAMESPACE, OWNER]) {
    const kept = valueAt(old, path);
    if (typeof kept === "string" && kept !== "") ops.push({ set: path, value: kept });
  }
  const before = roleOf(from, old, "worker");
  const after = roleOf(to, value, "worker");
  if (before?.value && after?.value) {
    ops.push({ set: [...after.path, "replicas"], value: replicasOf(before) });
    const gpus = gpusOf(from, old, before, gpuResource);
    if (gpus > 0) ops.push({ set: gpusPath(to, after, gpuResource), value: gpus });
  }
  return applyOps(text, withDirectories(value, ops));
}
