// What an API server takes and the bundled trainer of this release refuses: its sets of models and
// optimizers are open, for images of other releases may know more. The twin of
// operator/api/trainer_checks.cc; a warning here, for a server of another release decides.

import type { Json, JsonObject, Path } from "../manifest/path";
import { isObject, valueAt } from "../manifest/path";
import type { ColumnFinding } from "./column_findings";
import { boundaryFindings, columnFindings } from "./column_findings";

export const MODELS = [
  "mlp",
  "softmax",
  "linear",
  "lenet",
  "resnet20",
  "resnet50",
  "lstm",
  "gpt2",
  "wideDeep",
  "layers",
] as const;
export const OPTIMIZERS = [
  "sgd",
  "momentum",
  "adam",
  "adamw",
  "adagrad",
  "rmsprop",
  "ftrl",
] as const;

export type TrainerFinding =
  | ColumnFinding
  | { path: Path; code: "unknownModel" | "unknownOptimizer"; name: string }
  | { path: Path; code: "needsLayers"; name: string }
  | { path: Path; code: "ofAnother"; owner: string; name: string }
  | { path: Path; code: "startsAtZero" };

/** Whose a field is. */
export const OWNERS: Record<string, readonly string[]> = {
  momentum: ["momentum", "rmsprop"],
  nesterov: ["momentum"],
  beta1: ["adam", "adamw"],
  beta2: ["adam", "adamw"],
  epsilon: ["adam", "adamw", "rmsprop"],
  weightDecay: ["adamw"],
  initialAccumulator: ["adagrad", "ftrl"],
  rho: ["rmsprop"],
  centered: ["rmsprop"],
  learningRatePower: ["ftrl"],
  l1: ["ftrl"],
  l2: ["ftrl"],
};
export const MODEL_OWNERS: Record<string, readonly string[]> = {
  hidden: ["lenet", "lstm", "mlp", "wideDeep"],
  dropout: ["gpt2", "lenet", "lstm", "wideDeep"],
  layers: ["layers"],
  wide: ["wideDeep"],
  deep: ["wideDeep"],
  blocks: ["gpt2"],
  heads: ["gpt2"],
  width: ["gpt2"],
};
const NEED_HIDDEN = ["mlp", "lstm", "wideDeep"];
const TRAINER: Path = ["spec", "trainer"];

export function trainerFindings(value: Json): TrainerFinding[] {
  const trainer = valueAt(value, TRAINER);
  if (!isObject(trainer)) return [];
  const found: TrainerFinding[] = [];
  if (isObject(trainer.model)) {
    const ownImage = typeof trainer.image === "string";
    found.push(...modelFindings(trainer.model, ownImage));
  }
  const name = valueAt(trainer, ["model", "name"]);
  const ownModel = typeof name !== "string" || !(MODELS as readonly string[]).includes(name);
  found.push(...columnFindings(trainer.data, trainer.model, ownModel));
  if (isObject(trainer.optimizer)) found.push(...optimizerFindings(trainer.optimizer));
  return found;
}

/** An image of the user's own may have models of its own. */
function modelFindings(model: JsonObject, ownImage: boolean): TrainerFinding[] {
  const { name, hidden } = model;
  if (typeof name !== "string") return [];
  const at = [...TRAINER, "model"];
  if (!(MODELS as readonly string[]).includes(name)) {
    return ownImage ? [] : [{ path: [...at, "name"], code: "unknownModel", name }];
  }
  const found = foreignFields(model, at, MODEL_OWNERS, name);
  const layers = Array.isArray(hidden) && hidden.length > 0;
  if (NEED_HIDDEN.includes(name) && !layers) {
    found.push({ path: [...at, "hidden"], code: "needsLayers", name });
  }
  return found;
}

function foreignFields(
  of: JsonObject,
  at: Path,
  table: Record<string, readonly string[]>,
  name: string,
): TrainerFinding[] {
  return Object.entries(table).flatMap(([field, owners]): TrainerFinding[] => {
    if ((of[field] ?? null) === null || owners.includes(name)) return [];
    return [{ path: [...at, field], code: "ofAnother", owner: owners.join(", "), name }];
  });
}

function optimizerFindings(optimizer: JsonObject): TrainerFinding[] {
  const at = [...TRAINER, "optimizer"];
  const name = optimizer.name ?? "sgd";
  if (typeof name !== "string") return [];
  if (!(OPTIMIZERS as readonly string[]).includes(name)) {
    return [{ path: [...at, "name"], code: "unknownOptimizer", name }];
  }
  const foreign = foreignFields(optimizer, at, OWNERS, name);
  const starts: TrainerFinding[] =
    name === "adagrad" && optimizer.initialAccumulator === 0
      ? [{ path: [...at, "initialAccumulator"], code: "startsAtZero" }]
      : [];
  const boundaries = valueAt(optimizer, ["decay", "boundaries"]);
  return [...foreign, ...starts, ...boundaryFindings(boundaries, [...at, "decay", "boundaries"])];
}
