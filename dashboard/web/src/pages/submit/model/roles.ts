// The roles of a job in either kind of manifest, by what they are and not by how they are written.

import type { JobKind, Role } from "../../../api/types";
import type { Json, JsonObject, Path } from "../manifest/path";
import { isObject, valueAt } from "../manifest/path";

export interface RolePlace {
  role: Role;
  path: Path;
  /** Of a role that is not in the manifest: undefined. */
  value: JsonObject | undefined;
}

const ROLES_PATH: Record<JobKind, Path> = {
  TrainingJob: ["spec", "roles"],
  TFJob: ["spec", "tfReplicaSpecs"],
};
// As they are written where they do not stand yet.
const KEYS: Record<JobKind, Partial<Record<Role, string>>> = {
  TrainingJob: { chief: "chief", ps: "ps", worker: "worker", evaluator: "evaluator" },
  TFJob: { chief: "Chief", master: "Master", ps: "PS", worker: "Worker", evaluator: "Evaluator" },
};
const ORDER: readonly Role[] = ["chief", "master", "ps", "worker", "evaluator"];
/** A role without a number has one replica. */
const DEFAULT_REPLICAS = 1;

/** Every role that the kind has; of Chief and Master only Chief, unless Master is there. */
export function rolesOf(kind: JobKind, value: Json): RolePlace[] {
  const around = ROLES_PATH[kind];
  const written = valueAt(value, around);
  const keys = Object.keys(isObject(written) ? written : {});
  const places = ORDER.flatMap((role): RolePlace[] => {
    const fresh = KEYS[kind][role];
    if (fresh === undefined) return [];
    // A TFJob's roles are written in any case of letters.
    const same = (key: string): boolean =>
      kind === "TFJob" ? key.toLowerCase() === role : key === fresh;
    const path = [...around, keys.find(same) ?? fresh];
    const at = valueAt(value, path);
    return [{ role, path, value: isObject(at) ? at : keys.some(same) ? {} : undefined }];
  });
  const has = (role: Role): boolean => places.some((one) => one.role === role && one.value);
  return places.filter(({ role }) =>
    role === "chief" ? !has("master") || has("chief") : role !== "master" || has("master"),
  );
}

export function presentRoles(kind: JobKind, value: Json): RolePlace[] {
  return rolesOf(kind, value).filter((place) => place.value !== undefined);
}

export function roleOf(kind: JobKind, value: Json, role: Role): RolePlace | undefined {
  return rolesOf(kind, value).find((place) => place.role === role);
}

export function replicasOf(place: RolePlace): number {
  if (!place.value) return 0;
  const { replicas } = place.value;
  return typeof replicas === "number" ? replicas : DEFAULT_REPLICAS;
}

/** The role that the others of a simple form are like: the workers, else whoever trains. */
export function leadingRole(kind: JobKind, value: Json): RolePlace | undefined {
  const present = presentRoles(kind, value);
  return present.find(({ role }) => role === "worker") ?? present[0];
}

/** The container that gets TF_CONFIG; where there is none yet, where one would be. */
export function containerPath(kind: JobKind, place: RolePlace): Path {
  const around = [...place.path, "template", "spec", "containers"];
  const containers = valueAt(place.value, ["template", "spec", "containers"]);
  const list = Array.isArray(containers) ? containers : [];
  const name = mainContainer(kind);
  const index = list.findIndex((one) => isObject(one) && one.name === name);
  return [...around, Math.max(index, 0)];
}

export function mainContainer(kind: JobKind): string {
  return kind === "TFJob" ? "tensorflow" : "trainer";
}

/** Where the number of GPUs of one replica is written. */
export function gpusPath(kind: JobKind, place: RolePlace, gpuResource: string): Path {
  if (kind === "TrainingJob") return [...place.path, "gpus"];
  return [...containerPath(kind, place), "resources", "limits", gpuResource];
}

export function gpusOf(kind: JobKind, value: Json, place: RolePlace, gpuResource: string): number {
  const paths = [gpusPath(kind, place, gpuResource)];
  // A TrainingJob may ask for them as Kubernetes does, too.
  if (kind === "TrainingJob") paths.push([...place.path, "resources", "limits", gpuResource]);
  for (const path of paths) {
    const gpus = Number(valueAt(value, path) ?? 0);
    if (gpus > 0) return gpus;
  }
  return 0;
}

export type Program = "bundled" | "own" | "tfjob";

export function kindOfProgram(program: Program): JobKind {
  return program === "tfjob" ? "TFJob" : "TrainingJob";
}

export function programOf(kind: JobKind, value: Json): Program {
  if (kind === "TFJob") return "tfjob";
  return isObject(valueAt(value, ["spec", "trainer"])) ? "bundled" : "own";
}
