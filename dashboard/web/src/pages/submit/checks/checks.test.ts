import { describe, expect, test } from "vitest";
import { ApiError } from "../../../api/problem";
import type { Json } from "../manifest/path";
import { pathText } from "../manifest/path";
import { findingsOf } from "./server_issues";
import { trainerFindings } from "./trainer_findings";

describe("what the server said", () => {
  const value: Json = {
    metadata: { name: "a", annotations: { "taas.dev/owner": "ada" } },
    spec: {
      roles: { worker: { resources: { limits: { "nvidia.com/gpu": "x", cpu: 1 } } } },
      volumes: [{ name: "a" }, { name: "b" }],
    },
  };
  const invalid = (field: string, message = "wrong"): string[] =>
    findingsOf(new ApiError("Invalid", "…", { causes: [{ field, message }] }), value).map(
      (one) => `${JSON.stringify(one.path)} ${one.message}`,
    );

  test.each([
    ["spec.maxSteps", '["spec","maxSteps"] wrong'],
    ["spec.volumes[1].name", '["spec","volumes",1,"name"] wrong'],
    [
      "spec.roles.worker.resources.limits.nvidia.com/gpu",
      '["spec","roles","worker","resources","limits","nvidia.com/gpu"] wrong',
    ],
    ["metadata.annotations[taas.dev/owner]", '["metadata","annotations","taas.dev/owner"] wrong'],
    ["spec.tfReplicaSpecs[Worker].template", '["spec","tfReplicaSpecs","Worker","template"] wrong'],
    ["", "[] wrong"],
    ["..", '["."] wrong'],
  ])("at %j is at its place", (field, wanted) => {
    expect(invalid(field)).toEqual([wanted]);
  });

  test("is the sentence, without the object that it is about", () => {
    expect(invalid("spec", 'Invalid value: "object": strategy needs a ps')).toEqual([
      '["spec"] strategy needs a ps',
    ]);
    expect(invalid("spec", 'Invalid value: {"a":{"b":1}}: needs a ps')).toEqual([
      '["spec"] needs a ps',
    ]);
    expect(invalid("spec", "Invalid value: -1: should be more")).toEqual([
      '["spec"] Invalid value: -1: should be more',
    ]);
  });

  test("of fields that it does not know is at those fields", () => {
    const message =
      'try the job: strict decoding error: unknown field "spec.volumes[0].x", ' +
      'duplicate field "spec.roles"';
    const found = findingsOf(new ApiError("BadRequest", message), value);
    expect(found.map(({ path }) => pathText(path))).toEqual(["spec.volumes[0].x", "spec.roles"]);
  });

  test("of a name or a namespace is there", () => {
    const at = (reason: "Conflict" | "NotFound" | "Forbidden", message: string): string[] =>
      findingsOf(new ApiError(reason, message), value).map(({ path }) => pathText(path));
    expect(at("Conflict", 'trainingjobs "a" already exists')).toEqual(["metadata.name"]);
    expect(at("NotFound", 'namespaces "x" not found')).toEqual(["metadata.namespace"]);
    expect(at("Forbidden", "ada may not")).toEqual([]);
  });
});

describe("what the bundled trainer does not have", () => {
  const found = (trainer: Json): string[] =>
    trainerFindings({ spec: { trainer } }).map(({ path, code }) => `${pathText(path)} ${code}`);

  test.each<[Json, string[]]>([
    [{ model: { name: "mlp", hidden: [5] }, optimizer: { name: "adam", beta1: 0.9 } }, []],
    [{ model: { name: "mlp" } }, ["spec.trainer.model.hidden needsLayers"]],
    [{ model: { name: "softmax", hidden: [5] } }, ["spec.trainer.model.hidden ofAnother"]],
    [{ model: { name: "resnet" } }, ["spec.trainer.model.name unknownModel"]],
    [{ optimizer: { name: "lamb" } }, ["spec.trainer.optimizer.name unknownOptimizer"]],
    [{ optimizer: { momentum: 0.5 } }, ["spec.trainer.optimizer.momentum ofAnother"]],
    [{ optimizer: { name: "rmsprop", momentum: 0.5, centered: true } }, []],
    [
      { optimizer: { name: "adam", weightDecay: 0 } },
      ["spec.trainer.optimizer.weightDecay ofAnother"],
    ],
    [
      { optimizer: { name: "adagrad", initialAccumulator: 0 } },
      ["spec.trainer.optimizer.initialAccumulator startsAtZero"],
    ],
    [{ optimizer: { name: "ftrl", initialAccumulator: 0 } }, []],
    [
      { optimizer: { decay: { type: "step", boundaries: [5, 5], rates: [1, 1] } } },
      ["spec.trainer.optimizer.decay.boundaries mustGrow"],
    ],
    [{ optimizer: { decay: { type: "step", boundaries: [5, 9], rates: [1, 1] } } }, []],
    [
      {
        data: { columns: [{ name: "age", type: "bucketized", boundaries: [9, 5] }] },
        model: { name: "wideDeep", hidden: [4], wide: ["ages"], deep: [{ column: "job" }] },
      },
      [
        "spec.trainer.data.columns[0].boundaries mustGrow",
        "spec.trainer.model.wide[0] noColumn",
        "spec.trainer.model.deep[0].column noColumn",
      ],
    ],
    [
      { model: { name: "wideDeep", hidden: [4] } },
      ["spec.trainer.data.columns needsColumns"],
    ],
    [
      {
        data: { columns: [{ name: "age", type: "numeric" }, { name: "job", type: "hashed" }] },
        model: { name: "mlp", hidden: [4] },
      },
      ["spec.trainer.data.columns[1].type hasCategories"],
    ],
    [
      {
        data: { columns: [{ name: "job", type: "hashed" }] },
        image: "registry.example/highway:1",
        model: { name: "highway" },
      },
      [],
    ],
    [
      {
        data: {
          tfrecord: { features: [{ name: "age" }] },
          columns: [
            { name: "ages", type: "numeric" },
            { name: "group", type: "bucketized", source: "years", boundaries: [9] },
            { name: "both", type: "crossed", sources: ["group", "age", "town"] },
          ],
        },
        model: { name: "wideDeep", hidden: [4] },
      },
      [
        "spec.trainer.data.columns[0].name noFeature",
        "spec.trainer.data.columns[1].source noFeature",
        "spec.trainer.data.columns[2].sources[2] noFeature",
      ],
    ],
  ])("of %j it is %j", (trainer, wanted) => {
    expect(found(trainer)).toEqual(wanted);
  });

  test("is not looked for in a program of one's own", () => {
    expect(trainerFindings({ spec: { roles: {} } })).toEqual([]);
    expect(trainerFindings(null)).toEqual([]);
  });
});
