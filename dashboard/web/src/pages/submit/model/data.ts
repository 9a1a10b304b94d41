// Where a job's data comes from: files of a volume, or data that is generated.

import type { JobKind } from "../../../api/types";
import type { Op } from "../manifest/edit";
import type { Json, JsonObject, Path } from "../manifest/path";
import { isObject, valueAt } from "../manifest/path";
import { containerPath, leadingRole, presentRoles, programOf } from "./roles";

export const DATA: Path = ["spec", "trainer", "data"];
const VOLUMES: Path = ["spec", "volumes"];
// Of examples/mnist.yaml, and of what `taas data fetch mnist` leaves.
export const MOUNT = "/data";
export const FILES = {
  train: { images: "/data/train-images.gz", labels: "/data/train-labels.gz" },
  test: { images: "/data/test-images.gz", labels: "/data/test-labels.gz" },
};
// Enough to see the loss fall within seconds.
const GENERATED = { examples: 10_000, testExamples: 1_000, features: 20, classes: 10 };
const LINEAR = { ...GENERATED, classes: 0 };
// Of formats that only the text and the form's other fields set.
const OF_OTHERS = [
  "augment",
  "streaming",
  "classes",
  "columns",
  "cifar100",
  "tfrecord",
  "csv",
  "raw",
  "text",
];

export interface DataVolume {
  /** Of the volume in the manifest. */
  path: Path;
  mountPath: Path | undefined;
  /** Of its claim's name; undefined: it is of another sort. */
  claim: Path | undefined;
  /** Such as hostPath. */
  sort: string;
}

/** The one that the simple form shows: where the training files are, else the first. */
export function dataVolume(kind: JobKind, value: Json): DataVolume | undefined {
  return kind === "TFJob" ? templateVolume(value) : jobVolume(value);
}

function jobVolume(value: Json): DataVolume | undefined {
  const volumes = listAt(value, VOLUMES);
  const train = [...DATA, "train"];
  const file = valueAt(value, [...train, "images"]) ?? valueAt(value, [...train, "files", 0]);
  const holds = (mount: Json | undefined): boolean =>
    typeof file === "string" && typeof mount === "string" && file.startsWith(`${mount}/`);
  const index = volumes.findIndex((one) => isObject(one) && holds(one.mountPath));
  const at = index >= 0 ? index : typeof file === "string" || volumes.length === 0 ? -1 : 0;
  if (at < 0) return undefined;
  const path = [...VOLUMES, at];
  return { path, mountPath: [...path, "mountPath"], ...sourceOf(value, [...path, "source"]) };
}

function templateVolume(value: Json): DataVolume | undefined {
  const leader = leadingRole("TFJob", value);
  if (!leader) return undefined;
  const around = [...leader.path, "template", "spec", "volumes"];
  const volumes = listAt(value, around);
  const index = volumes.findIndex((one) => isObject(one) && one.persistentVolumeClaim);
  const at = index >= 0 ? index : volumes.length > 0 ? 0 : -1;
  if (at < 0) return undefined;
  const path = [...around, at];
  const mounts = [...containerPath("TFJob", leader), "volumeMounts"];
  const name = valueAt(value, [...path, "name"]);
  const mount = listAt(value, mounts).findIndex((one) => isObject(one) && one.name === name);
  const mountPath = mount >= 0 ? [...mounts, mount, "mountPath"] : undefined;
  return { path, mountPath, ...sourceOf(value, path) };
}

function sourceOf(value: Json, path: Path): { claim: Path | undefined; sort: string } {
  const source = valueAt(value, path);
  const sorts = Object.keys(isObject(source) ? source : {}).filter((key) => key !== "name");
  const claim = sorts.includes("persistentVolumeClaim")
    ? [...path, "persistentVolumeClaim", "claimName"]
    : undefined;
  return { claim, sort: sorts[0] ?? "" };
}

function listAt(value: Json, path: Path): Json[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? list : [];
}

/** From files to generated data and back; a linear model gets numbers to predict, not classes. */
export function formatOps(value: Json, format: string): Op[] {
  const ops: Op[] = [{ set: [...DATA, "format"], value: format }];
  ops.push(...OF_OTHERS.map((key): Op => ({ remove: [...DATA, key] })));
  if (format === "generated") {
    const linear = valueAt(value, ["spec", "trainer", "model", "name"]) === "linear";
    ops.push({ remove: [...DATA, "train"] }, { remove: [...DATA, "test"] });
    ops.push({ set: [...DATA, "generated"], value: linear ? LINEAR : GENERATED });
    return ops;
  }
  ops.push({ remove: [...DATA, "generated"] });
  ops.push({ set: [...DATA, "train"], value: FILES.train });
  ops.push({ set: [...DATA, "test"], value: FILES.test });
  const mounted = listAt(value, VOLUMES).some((one) => isObject(one) && one.mountPath === MOUNT);
  if (!mounted) ops.push(...volumeOps("TrainingJob", value, "data"));
  return ops;
}

/** Mounts a claim where the others of the job do not. */
export function volumeOps(kind: JobKind, value: Json, claim: string): Op[] {
  const source: JsonObject = { persistentVolumeClaim: { claimName: claim } };
  if (kind === "TrainingJob") {
    const name = freeName(listAt(value, VOLUMES));
    const readOnly = programOf(kind, value) === "bundled";
    const volume = { name, mountPath: MOUNT, ...(readOnly ? { readOnly } : {}), source };
    return [{ add: VOLUMES, value: volume }];
  }
  return presentRoles(kind, value).flatMap((place): Op[] => {
    const volumes = [...place.path, "template", "spec", "volumes"];
    const name = freeName(listAt(value, volumes));
    return [
      { add: volumes, value: { name, ...source } },
      { add: [...containerPath(kind, place), "volumeMounts"], value: { name, mountPath: MOUNT } },
    ];
  });
}

function freeName(volumes: Json[]): string {
  const names = new Set(volumes.map((one) => (isObject(one) ? one.name : undefined)));
  let name = "data";
  for (let number = 2; names.has(name); ++number) name = `data-${number}`;
  return name;
}
