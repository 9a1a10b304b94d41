// Which fields stand in which section of the advanced form, for each kind of job.

import type { JobKind } from "../../../../api/types";
import type { Texts } from "../../../../i18n/en";
import { OWNERS } from "../../checks/trainer_findings";
import type { Json, Path } from "../../manifest/path";
import { isObject, isWithin, valueAt } from "../../manifest/path";
import { programOf } from "../../model/roles";
import type { FieldSpec } from "../ScalarField";

export type Section = keyof Texts["submit"]["section"];

const TRAINER: Path = ["spec", "trainer"];
const at = (...keys: string[]): Path => [...TRAINER, ...keys];

export function sectionsOf(kind: JobKind, value: Json): Section[] {
  const bundled = programOf(kind, value) === "bundled";
  const trainer: Section[] = bundled ? ["training", "saving"] : [];
  return ["roles", ...trainer, "volumes", "lifetime", "scheduling", "metadata"];
}

/** In whose fields `path` is, or the section nearest to it. */
export function sectionOf(path: Path): Section | undefined {
  const [top, field, part] = path;
  if (top === "metadata") return "metadata";
  if (top !== "spec") return undefined;
  switch (field) {
    case "roles":
    case "tfReplicaSpecs":
      return "roles";
    case "volumes":
      return "volumes";
    case "schedulingPolicy":
      return "scheduling";
    case "runPolicy":
      return part === "schedulingPolicy" ? "scheduling" : "lifetime";
    case "trainer":
      return SAVING_PARTS.has(String(part)) ? "saving" : "training";
    case undefined:
    default:
      return "lifetime";
  }
}

const OPTIMIZER_FIELDS: [string, FieldSpec["label"]][] = [
  ["momentum", "momentum"],
  ["nesterov", "nesterov"],
  ["beta1", "beta1"],
  ["beta2", "beta2"],
  ["epsilon", "epsilon"],
  ["weightDecay", "weightDecay"],
  ["initialAccumulator", "initialAccumulator"],
  ["rho", "rho"],
  ["centered", "centered"],
  ["learningRatePower", "learningRatePower"],
  ["l1", "ftrlL1"],
  ["l2", "ftrlL2"],
];

const SAVING_PARTS = new Set(["checkpoint", "export", "summaries", "evaluation"]);

type Fields = (needed: boolean, ...specs: FieldSpec[]) => FieldSpec[];

/** Those that are needed, and those that stand there anyway. */
function fieldsOf(value: Json): Fields {
  return (needed, ...specs) =>
    specs.filter(({ path }) => needed || valueAt(value, path) !== undefined);
}

function strategyFields(value: Json, of: Fields): FieldSpec[] {
  const type = valueAt(value, at("strategy", "type")) ?? "ParameterServer";
  const sync = valueAt(value, at("strategy", "mode")) === "Sync";
  const keep = TRAINER.length;
  return [
    { path: at("strategy", "type"), label: "strategyType", keep },
    ...of(type === "ParameterServer", { path: at("strategy", "mode"), label: "mode", keep }),
    ...of(
      sync,
      { path: at("strategy", "backupWorkers"), label: "backupWorkers", hint: "backupWorkers" },
      { path: at("strategy", "replicasToAggregate"), label: "replicasToAggregate" },
    ),
    ...of(type === "ParameterServer" && !sync, {
      path: at("strategy", "maxStaleness"),
      label: "maxStaleness",
      hint: "maxStaleness",
    }),
    ...of(type === "Towers", { path: at("strategy", "towers"), label: "towers" }),
    ...of(type === "AllReduce", {
      path: at("strategy", "heartbeatSeconds"),
      label: "heartbeatSeconds",
      hint: "heartbeatSeconds",
    }),
    ...of(type === "AllReduce" || type === "ParameterServer", {
      path: at("strategy", "gradientPrecision"),
      label: "gradientPrecision",
      hint: "gradientPrecision",
    }),
  ];
}

/** Only what the strategy and the optimizer that are chosen have, and what stands there anyway. */
export function trainingFields(value: Json): FieldSpec[] {
  const name = valueAt(value, at("optimizer", "name"));
  const optimizer = typeof name === "string" ? name : "sgd";
  const decay = valueAt(value, at("optimizer", "decay", "type")) ?? "exponential";
  const of = fieldsOf(value);
  const part = (path: Path, ...specs: FieldSpec[]): FieldSpec[] =>
    valueAt(value, path) === undefined ? [] : specs;
  const keep = TRAINER.length;
  return [
    ...strategyFields(value, of),
    { path: at("maxSteps"), label: "maxSteps", hint: "maxSteps" },
    { path: at("batchSize"), label: "batchSize", hint: "batchSize" },
    { path: at("optimizer", "learningRate"), label: "learningRate", keep },
    ...OPTIMIZER_FIELDS.filter(
      ([field]) =>
        OWNERS[field]?.includes(optimizer) === true ||
        valueAt(value, at("optimizer", field)) !== undefined,
    ).map(([field, label]): FieldSpec => ({ path: at("optimizer", field), label })),
    { path: at("optimizer", "decay"), label: "decay", fresh: { steps: 1000, rate: 0.96 } },
    ...part(
      at("optimizer", "decay"),
      ...of(decay !== "step", { path: at("optimizer", "decay", "steps"), label: "decaySteps" }),
      ...of(
        decay === "exponential",
        { path: at("optimizer", "decay", "rate"), label: "decayRate" },
        { path: at("optimizer", "decay", "staircase"), label: "staircase" },
      ),
    ),
    { path: at("optimizer", "warmup"), label: "warmup", fresh: { steps: 100 } },
    ...part(at("optimizer", "warmup"), {
      path: at("optimizer", "warmup", "steps"),
      label: "warmupSteps",
    }),
    { path: at("optimizer", "scaleByWorkers"), label: "scaleByWorkers" },
    { path: at("optimizer", "clip", "value"), label: "clipValue", keep: keep + 1 },
    { path: at("optimizer", "clip", "globalNorm"), label: "clipGlobalNorm", keep: keep + 1 },
    { path: at("optimizer", "lossScale"), label: "lossScale" },
    { path: at("regularization", "l1"), label: "l1", keep },
    { path: at("regularization", "l2"), label: "l2", keep },
    { path: at("movingAverage"), label: "movingAverage", fresh: { decay: 0.999 } },
    ...part(at("movingAverage"), {
      path: at("movingAverage", "decay"),
      label: "movingAverageDecay",
    }),
    { path: at("seed"), label: "seed" },
    { path: at("logSteps"), label: "logSteps" },
    { path: at("jsonLogs"), label: "jsonLogs" },
    { path: at("image"), label: "trainerImage", hint: "trainerImage" },
  ];
}

export function savingFields(value: Json): FieldSpec[] {
  const has = (part: string): boolean => valueAt(value, at(part)) !== undefined;
  const out = outDirectory(value);
  return [
    {
      path: at("checkpoint"),
      label: "checkpoint",
      hint: "checkpoint",
      fresh: { dir: `${out}/checkpoints` },
    },
    ...(has("checkpoint") ? CHECKPOINT : []),
    {
      path: at("export"),
      label: "export",
      hint: "export",
      fresh: { format: "savedModel", dir: `${out}/export` },
    },
    ...(has("export") ? EXPORT : []),
    { path: at("summaries"), label: "summaries", hint: "summaries", fresh: { dir: `${out}/logs` } },
    ...(has("summaries") ? SUMMARIES : []),
    { path: at("evaluation", "everySeconds"), label: "evaluationSeconds", keep: TRAINER.length },
  ];
}

/** A volume that is written to, as the examples have it. */
function outDirectory(value: Json): string {
  const volumes = valueAt(value, ["spec", "volumes"]);
  for (const volume of Array.isArray(volumes) ? volumes : []) {
    if (!isObject(volume) || volume.readOnly === true) continue;
    if (typeof volume.mountPath === "string") return volume.mountPath;
  }
  return "/out";
}

const CHECKPOINT: FieldSpec[] = [
  { path: at("checkpoint", "dir"), label: "checkpointDir", hint: "checkpointDir" },
  { path: at("checkpoint", "everySeconds"), label: "checkpointSeconds" },
  { path: at("checkpoint", "everySteps"), label: "checkpointSteps" },
  { path: at("checkpoint", "keep"), label: "keep" },
  { path: at("checkpoint", "maxShardBytes"), label: "maxShardBytes" },
  { path: at("checkpoint", "saveDeadlineSeconds"), label: "saveDeadlineSeconds" },
];
const EXPORT: FieldSpec[] = [
  { path: at("export", "format"), label: "exportFormat" },
  { path: at("export", "dir"), label: "exportDir" },
];
const SUMMARIES: FieldSpec[] = [
  { path: at("summaries", "dir"), label: "summariesDir" },
  { path: at("summaries", "everySteps"), label: "summarySteps" },
  { path: at("summaries", "histograms"), label: "histograms" },
];

/** A TFJob has its policies below runPolicy; where an old manifest has one flat, it stays there. */
function policy(kind: JobKind, value: Json, name: string): Path {
  if (kind === "TrainingJob") return ["spec", name];
  const nested: Path = ["spec", "runPolicy", name];
  const flat: Path = ["spec", name];
  const old = valueAt(value, nested) === undefined && valueAt(value, flat) !== undefined;
  return old ? flat : nested;
}

export function lifetimeFields(kind: JobKind, value: Json, words: Texts["submit"]): FieldSpec[] {
  const of = (name: string): Path => policy(kind, value, name);
  const shared: FieldSpec[] = [
    { path: of("suspend"), label: "suspend", hint: "suspend" },
    { path: of("backoffLimit"), label: "backoffLimit", hint: "backoff", keep: 1 },
    {
      path: of("activeDeadlineSeconds"),
      label: "activeDeadlineSeconds",
      hint: "activeDeadline",
      keep: 1,
    },
    { path: of("ttlSecondsAfterFinished"), label: "ttlSecondsAfterFinished", hint: "ttl", keep: 1 },
    { path: of("cleanPodPolicy"), label: "cleanPodPolicy", keep: 1 },
    {
      path: ["spec", "successPolicy"],
      label: "successPolicy",
      // Of a TFJob the empty text is the chief's success.
      meaning: (one) => (one === "" ? words.successOfChief : undefined),
    },
  ];
  if (kind === "TFJob") {
    return [
      ...shared,
      {
        path: ["metadata", "annotations", "taas.dev/pending-deadline-seconds"],
        label: "pendingDeadlineSeconds",
        hint: "pendingDeadline",
        keep: 1,
      },
      { path: ["spec", "enableDynamicWorker"], label: "enableDynamicWorker" },
    ];
  }
  return [
    ...shared,
    {
      path: of("pendingDeadlineSeconds"),
      label: "pendingDeadlineSeconds",
      hint: "pendingDeadline",
    },
    { path: of("restartScope"), label: "restartScope" },
    { path: of("nodeLossSeconds"), label: "nodeLossSeconds" },
    {
      path: ["spec", "exitCodes", "preset"],
      label: "exitCodes",
      hint: "exitCodes",
      keep: 1,
    },
  ];
}

export interface SchedulingPaths {
  queue: Path;
  fields: FieldSpec[];
}

export function schedulingFields(kind: JobKind): SchedulingPaths {
  const around: Path =
    kind === "TFJob" ? ["spec", "runPolicy", "schedulingPolicy"] : ["spec", "schedulingPolicy"];
  const own: FieldSpec[] =
    kind === "TFJob"
      ? [
          { path: [...around, "priorityClass"], label: "priorityClassName", keep: 1 },
          { path: [...around, "scheduleTimeoutSeconds"], label: "scheduleTimeoutSeconds", keep: 1 },
        ]
      : [
          { path: [...around, "priorityClassName"], label: "priorityClassName", keep: 1 },
          { path: [...around, "gang"], label: "gang", keep: 1 },
        ];
  const pods: FieldSpec = {
    path: [...around, "minAvailable"],
    label: "minAvailable",
    hint: "minAvailable",
    keep: 1,
  };
  return { queue: [...around, "queue"], fields: [...own, pods] };
}

/** The name, the namespace and what the simple form alone has. */
export function isSimple(path: Path): boolean {
  const shown: Path[] = [
    ["metadata", "name"],
    ["metadata", "namespace"],
    at("model"),
    at("maxSteps"),
    at("data"),
  ];
  return shown.some((one) => isWithin(path, one));
}
