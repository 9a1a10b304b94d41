// What the drawer shows of a pod, read from the object as the API server has it. The object comes
// from a cluster that others write to: what has another form than expected is left out.
//
//   const pod = readPod(object);
//   pod.containers[0]?.last?.exitCode

import type { KubeObject } from "../../../api/types";

export interface EnvEntry {
  name: string;
  /** As written; absent where it comes from elsewhere. */
  value?: string;
  from?: EnvSource;
}
export interface EnvSource {
  kind: "secret" | "configMap" | "field" | "resource" | "other";
  /** Of the object, or the field's path. */
  name: string;
  key?: string;
}
export interface EnvFrom {
  kind: "secret" | "configMap";
  name: string;
  prefix: string;
}
/** How a run of a container stands, or how it ended. */
export interface Run {
  state: "waiting" | "running" | "terminated";
  reason?: string;
  message?: string;
  exitCode?: number;
  startedAt?: string;
  finishedAt?: string;
}
export interface Container {
  name: string;
  image: string;
  /** With a digest, as the node pulled it. */
  imageId?: string;
  init: boolean;
  requests: [string, string][];
  limits: [string, string][];
  env: EnvEntry[];
  envFrom: EnvFrom[];
  restarts: number;
  now?: Run;
  last?: Run;
  devices: string[];
}
export interface PodView {
  containers: Container[];
  /** Why it is not scheduled, evicted, …; in the cluster's words. */
  reason?: string;
  message?: string;
  conditions: { type: string; status: string; reason?: string; message?: string }[];
  serviceAccount?: string;
  priorityClass?: string;
  qosClass?: string;
}

type Fields = Record<string, unknown>;

function fieldsOf(value: unknown): Fields {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Fields) : {};
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Quantities may be numbers in a manifest. */
function quantities(value: unknown): [string, string][] {
  return Object.entries(fieldsOf(value)).flatMap(([name, amount]) =>
    typeof amount === "string" || typeof amount === "number" ? [[name, String(amount)]] : [],
  );
}

function sourceOf(value: unknown): EnvSource {
  const from = fieldsOf(value);
  const keyed = (kind: EnvSource["kind"], ref: Fields): EnvSource => ({
    kind,
    name: textOf(ref.name) ?? "",
    key: textOf(ref.key),
  });
  if (from.secretKeyRef) return keyed("secret", fieldsOf(from.secretKeyRef));
  if (from.configMapKeyRef) return keyed("configMap", fieldsOf(from.configMapKeyRef));
  if (from.fieldRef) {
    return { kind: "field", name: textOf(fieldsOf(from.fieldRef).fieldPath) ?? "" };
  }
  if (from.resourceFieldRef) {
    return { kind: "resource", name: textOf(fieldsOf(from.resourceFieldRef).resource) ?? "" };
  }
  return { kind: "other", name: Object.keys(from)[0] ?? "" };
}

function envOf(value: unknown): EnvEntry[] {
  return listOf(value).flatMap((entry): EnvEntry[] => {
    const name = textOf(entry.name);
    if (name === undefined) return [];
    if (entry.valueFrom) return [{ name, from: sourceOf(entry.valueFrom) }];
    return [{ name, value: typeof entry.value === "string" ? entry.value : "" }];
  });
}

function envFromOf(value: unknown): EnvFrom[] {
  return listOf(value).flatMap((entry): EnvFrom[] => {
    const kind = entry.secretRef ? "secret" : "configMap";
    const name = textOf(fieldsOf(entry.secretRef ?? entry.configMapRef).name);
    return name === undefined ? [] : [{ kind, name, prefix: textOf(entry.prefix) ?? "" }];
  });
}

function runOf(value: unknown): Run | undefined {
  const states = fieldsOf(value);
  for (const state of ["terminated", "running", "waiting"] as const) {
    if (!states[state]) continue;
    const run = fieldsOf(states[state]);
    return {
      state,
      reason: textOf(run.reason),
      message: textOf(run.message),
      exitCode: numberOf(run.exitCode),
      startedAt: textOf(run.startedAt),
      finishedAt: textOf(run.finishedAt),
    };
  }
  return undefined;
}

function devicesOf(status: Fields): string[] {
  return listOf(status.allocatedResourcesStatus).flatMap((resource) =>
    listOf(resource.resources).flatMap((device) => textOf(device.resourceID) ?? []),
  );
}

function containersOf(list: unknown, statuses: unknown, init: boolean): Container[] {
  const byName = new Map(listOf(statuses).map((status) => [textOf(status.name), status]));
  return listOf(list).map((container): Container => {
    const status = byName.get(textOf(container.name)) ?? {};
    const resources = fieldsOf(container.resources);
    return {
      name: textOf(container.name) ?? "",
      image: textOf(container.image) ?? "",
      imageId: textOf(status.imageID),
      init,
      requests: quantities(resources.requests),
      limits: quantities(resources.limits),
      env: envOf(container.env),
      envFrom: envFromOf(container.envFrom),
      restarts: numberOf(status.restartCount) ?? 0,
      now: runOf(status.state),
      last: runOf(status.lastState),
      devices: devicesOf(status),
    };
  });
}

export function readPod(object: KubeObject): PodView {
  const spec = fieldsOf(object.spec);
  const status = fieldsOf(object.status);
  return {
    containers: [
      ...containersOf(spec.initContainers, status.initContainerStatuses, true),
      ...containersOf(spec.containers, status.containerStatuses, false),
    ],
    reason: textOf(status.reason),
    message: textOf(status.message),
    conditions: listOf(status.conditions).map((condition) => ({
      type: textOf(condition.type) ?? "",
      status: textOf(condition.status) ?? "",
      reason: textOf(condition.reason),
      message: textOf(condition.message),
    })),
    serviceAccount: textOf(spec.serviceAccountName),
    priorityClass: textOf(spec.priorityClassName),
    qosClass: textOf(status.qosClass),
  };
}

/** Whether a name says that what it holds is not for everybody who looks over a shoulder. */
export function looksSecret(name: string): boolean {
  return /pass(word|wd|phrase)?|secret|token|credential|api_?key|access_?key|private/i.test(name);
}
