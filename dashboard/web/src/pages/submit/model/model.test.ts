import { describe, expect, test } from "vitest";
import { applyOps } from "../manifest/edit";
import type { Json } from "../manifest/path";
import { valueAt } from "../manifest/path";
import type { Manifest } from "../manifest/read";
import { readManifest } from "../manifest/read";
import EXAMPLES from "../templates/examples.json";
import { dataVolume, formatOps, volumeOps } from "./data";
import { listOps } from "./lists";
import { freeName, nameLengthMax, nameLike, nextName } from "./names";
import { commandLine, differs, programOps, programValue } from "./program";
import { gpusOf, gpusPath, presentRoles, rolesOf } from "./roles";

function manifestOf(text: string): Manifest {
  const reading = readManifest(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.manifest;
}

const valueOf = (text: string): Json => manifestOf(text).value;

describe("names", () => {
  test.each([
    ["My Job_1", "my-job-1"],
    ["9-lives", "lives"],
    ["-a-", "a"],
    ["a.b", "a-b"],
    ["作业", ""],
  ])("%s is near to %s", (text, wanted) => {
    expect(nameLike(text, 55)).toBe(wanted);
  });

  test.each([
    ["mnist", 55, "mnist-2"],
    ["mnist-2", 55, "mnist-3"],
    ["mnist-v-2", 55, "mnist-v-3"],
    ["run-2026", 55, "run-2027"],
    ["abcdefgh", 8, "abcdef-2"],
    ["abcde-99", 8, "abcd-100"],
  ])("after %s of at most %d comes %s", (name, max, wanted) => {
    expect(nextName(name, max)).toBe(wanted);
  });

  test("are free, and not only the next", () => {
    expect(freeName("mnist", 55, new Set(["mnist", "mnist-2", "mnist-3", "mnist-5"]))).toBe(
      "mnist-4",
    );
    expect(freeName("mnist", 55, new Set())).toBe("mnist-2");
  });

  test("leave room for role and number of each pod", () => {
    const of = (roles: Json): number => nameLengthMax("TrainingJob", { spec: { roles } });
    expect(of({ worker: {} })).toBe(54);
    expect(of({ worker: { replicas: 11 } })).toBe(53);
    expect(of({ worker: {}, evaluator: {} })).toBe(51);
    expect(of({ worker: {}, evaluator: { replicas: 0 } })).toBe(54);
    const tfjob = { spec: { tfReplicaSpecs: { PS: { replicas: 3 } } } };
    expect(nameLengthMax("TFJob", tfjob)).toBe(58);
  });
});

describe("lists", () => {
  const change = (text: string, next: Json[]): string => {
    const old = valueAt(valueOf(text), ["a"]);
    return applyOps(text, listOps(["a"], old, next));
  };
  const LINES = "a:\n  - k # one\n  - l # two\n  - m # three\n";

  test("lose an item, and the others keep their lines", () => {
    expect(change(LINES, ["k", "m"])).toBe("a:\n  - k # one\n  - m # three\n");
  });
  test("get an item at the end", () => {
    expect(change(LINES, ["k", "l", "m", "w"])).toBe(`${LINES}  - w\n`);
  });
  test("have an item changed", () => {
    expect(change(LINES, ["k", "q", "m"])).toBe(LINES.replace("- l", "- q"));
  });
  test("become shorter by change and loss at once", () => {
    expect(valueOf(change(LINES, ["q", "r"]))).toEqual({ a: ["q", "r"] });
  });
  test("go when they are empty, and come back", () => {
    expect(change("a: [1]\nb: 2\n", [])).toBe("b: 2\n");
    expect(change("b: 2\n", [1, 2])).toBe("b: 2\na:\n  - 1\n  - 2\n");
  });
});

describe("a program of one's own", () => {
  const text = EXAMPLES["own-image"];

  test("is changed once for all roles that share it", () => {
    const manifest = manifestOf(text);
    const ops = programOps("TrainingJob", manifest, "image", "me/train:1");
    expect(applyOps(text, ops)).toBe(text.replace("busybox:1.37", "me/train:1"));
    const args = programOps("TrainingJob", manifest, "args", ["a", "b"]);
    const value = valueOf(applyOps(text, args));
    expect(programValue("TrainingJob", value, "args")).toEqual(["a", "b"]);
    expect(differs("TrainingJob", value, "args")).toBe(false);
  });

  test("is a command line where its first part has a space, and split where that is simple", () => {
    expect(commandLine(["sh -c", "echo a b"])).toEqual({
      line: "sh -c",
      parts: ["sh", "-c", "echo a b"],
    });
    expect(commandLine(["python train.py && ls"])).toEqual({ line: "python train.py && ls" });
    for (const fine of [[], ["sh", "-c", "a b"], [" sh"]]) expect(commandLine(fine)).toBeNull();
  });

  test("is changed in each role that says it anew", () => {
    const twice = `kind: TFJob
spec:
  tfReplicaSpecs:
    PS: {template: {spec: {containers: [{name: tensorflow, image: a}]}}}
    worker: {template: {spec: {containers: [{name: log, image: c}, {name: tensorflow, image: a}]}}}
    Chief: {template: {spec: {containers: [{name: tensorflow, image: other}]}}}
`;
    const manifest = manifestOf(twice);
    expect(differs("TFJob", manifest.value, "image")).toBe(true);
    const after = applyOps(twice, programOps("TFJob", manifest, "image", "b"));
    expect(after).toBe(twice.replaceAll("image: a", "image: b"));
  });
});

describe("data", () => {
  test("of files is on the volume that the files are on", () => {
    const value = valueOf(EXAMPLES.mnist);
    expect(dataVolume("TrainingJob", value)?.claim?.slice(0, 3)).toEqual(["spec", "volumes", 0]);
    const tfjob = valueOf(EXAMPLES.tfjob);
    const volume = dataVolume("TFJob", tfjob);
    expect(valueAt(tfjob, volume?.claim ?? [])).toBe("mnist-data");
    expect(valueAt(tfjob, volume?.mountPath ?? [])).toBe("/data");
  });

  test("becomes generated and is of files again", () => {
    const text = EXAMPLES.async;
    const generated = applyOps(text, formatOps(valueOf(text), "generated"));
    const data = valueAt(valueOf(generated), ["spec", "trainer", "data"]);
    expect(data).toMatchObject({ format: "generated", generated: { classes: 10 } });
    expect(data).not.toHaveProperty("train");
    expect(data).not.toHaveProperty("test");
    const back = valueOf(applyOps(generated, formatOps(valueOf(generated), "idx")));
    expect(back).toEqual(valueOf(text));
  });

  test("of a list of files is in its volume, and leaves nothing behind", () => {
    const text = `kind: TrainingJob
spec:
  trainer:
    data:
      format: csv
      train: {files: [/tables/a.csv]}
      classes: 3
      csv: {labelColumn: kind}
  volumes:
    - {name: other, mountPath: /other, source: {emptyDir: {}}}
    - {name: tables, mountPath: /tables, source: {persistentVolumeClaim: {claimName: t}}}
`;
    expect(dataVolume("TrainingJob", valueOf(text))?.path).toEqual(["spec", "volumes", 1]);
    const value = valueOf(applyOps(text, formatOps(valueOf(text), "generated")));
    const data = valueAt(value, ["spec", "trainer", "data"]);
    expect(Object.keys(data as object).sort()).toEqual(["format", "generated"]);
  });

  test("of files mounts a volume where none is", () => {
    const text = `kind: TrainingJob
spec:
  trainer: {model: {name: linear}, data: {format: generated, generated: {classes: 0}}}
`;
    const value = valueOf(applyOps(text, formatOps(valueOf(text), "idx")));
    expect(valueAt(value, ["spec", "volumes", 0])).toEqual({
      name: "data",
      mountPath: "/data",
      readOnly: true,
      source: { persistentVolumeClaim: { claimName: "data" } },
    });
    const linear = formatOps(valueOf(text), "generated").at(-1);
    expect(linear).toMatchObject({ value: { classes: 0 } });
  });

  test("of a TFJob is mounted in the container of each role", () => {
    const text = `kind: TFJob
spec:
  tfReplicaSpecs:
    PS: {template: {spec: {containers: [{name: tensorflow, image: a}]}}}
    Worker: {template: {spec: {containers: [{name: tensorflow, image: a}]}}}
`;
    const value = valueOf(applyOps(text, volumeOps("TFJob", valueOf(text), "mine")));
    for (const role of ["PS", "Worker"]) {
      const pod = valueAt(value, ["spec", "tfReplicaSpecs", role, "template", "spec"]);
      expect(pod).toMatchObject({
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "mine" } }],
        containers: [{ volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      });
    }
  });
});

describe("roles", () => {
  test("of a TFJob are found in any case of letters", () => {
    const value = valueOf(
      "kind: TFJob\nspec: {tfReplicaSpecs: {WORKER: {replicas: 2}, master: {}}}\n",
    );
    const found = presentRoles("TFJob", value).map(({ role, path }) => [role, path.at(-1)]);
    expect(found).toEqual([
      ["master", "master"],
      ["worker", "WORKER"],
    ]);
    // Only one of Chief and Master.
    expect(rolesOf("TFJob", value).map(({ role }) => role)).not.toContain("chief");
  });

  test("count GPUs however they are asked for", () => {
    const of = (kind: "TFJob" | "TrainingJob", text: string): number[] =>
      presentRoles(kind, valueOf(text)).map((place) =>
        gpusOf(kind, valueOf(text), place, "nvidia.com/gpu"),
      );
    expect(of("TrainingJob", "spec: {roles: {ps: {}, worker: {gpus: 2}}}")).toEqual([0, 2]);
    const limits = 'resources: {limits: {nvidia.com/gpu: "4"}}';
    expect(of("TrainingJob", `spec: {roles: {worker: {${limits}}}}`)).toEqual([4]);
    const container = `{name: tensorflow, ${limits}}`;
    const template = `{spec: {containers: [${container}]}}`;
    const tfjob = `spec: {tfReplicaSpecs: {Worker: {template: ${template}}}}`;
    expect(of("TFJob", tfjob)).toEqual([4]);
    const place = presentRoles("TFJob", valueOf(tfjob))[0];
    expect(place && valueAt(valueOf(tfjob), gpusPath("TFJob", place, "nvidia.com/gpu"))).toBe("4");
  });
});
