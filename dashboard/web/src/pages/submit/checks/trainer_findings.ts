// What an API server takes and the bundled trainer of this release refuses: its sets of models and
// optimizers are open, for images of other releases may know more. The twin of ValidateTrainer in
// operator/api/validation.cc; a warning here, for a server of another release decides.

import type { Json, JsonObject, Path } from "../manifest/path";
import { isObject, valueAt } from "../manifest/path";

export const MODELS = ["mlp", "softmax", "linear"] as const;
export const OPTIMIZERS = ["sgd", "momentum", "adam"] as const;

export type TrainerFinding =
  | { path: Path; code: "unknownModel" | "unknownOptimizer"; name: string }
  | { path: Path; code: "needsLayers" }
  | { path: Path; code: "hasNoLayers"; name: string }
  | { path: Path; code: "ofAnotherOptimizer"; owner: string; name: string };

const OWNERS: Record<string, string> = {
  momentum: "momentum",
  beta1: "adam",
  beta2: "adam",
  epsilon: "adam",
};
const TRAINER: Path = ["spec", "trainer"];

export function trainerFindings(value: Json): TrainerFinding[] {
  const trainer = valueAt(value, TRAINER);
  if (!isObject(trainer)) return [];
  const found: TrainerFinding[] = [];
  if (isObject(trainer.model)) found.push(...modelFindings(trainer.model));
  if (isObject(trainer.optimizer)) found.push(...optimizerFindings(trainer.optimizer));
  return found;
}

function modelFindings(model: JsonObject): TrainerFinding[] {
  const { name, hidden } = model;
  if (typeof name !== "string") return [];
  const layers = Array.isArray(hidden) && hidden.length > 0;
  const at = [...TRAINER, "model"];
  if (!(MODELS as readonly string[]).includes(name)) {
    return [{ path: [...at, "name"], code: "unknownModel", name }];
  }
  if (name === "mlp" && !layers) return [{ path: [...at, "hidden"], code: "needsLayers" }];
  if (name !== "mlp" && layers) return [{ path: [...at, "hidden"], code: "hasNoLayers", name }];
  return [];
}

function optimizerFindings(optimizer: JsonObject): TrainerFinding[] {
  const at = [...TRAINER, "optimizer"];
  const name = optimizer.name ?? "sgd";
  if (typeof name !== "string") return [];
  if (!(OPTIMIZERS as readonly string[]).includes(name)) {
    return [{ path: [...at, "name"], code: "unknownOptimizer", name }];
  }
  return Object.entries(OWNERS).flatMap(([field, owner]): TrainerFinding[] => {
    const foreign = (optimizer[field] ?? null) !== null && owner !== name;
    return foreign ? [{ path: [...at, field], code: "ofAnotherOptimizer", owner, name }] : [];
  });
}
