import { expect, test } from "vitest";
import { en } from "../../../i18n/en";
import { zh } from "../../../i18n/zh";
import { valueAt } from "../manifest/path";
import { readManifest } from "../manifest/read";
import { CHECKPOINT_DIR } from "../model/directories";
import { checkManifest } from "../schema/check";
import { carriedOver, FIRST_OF, personal, templateById, TEMPLATES } from "./templates";

function valueOf(text: string): Parameters<typeof checkManifest>[1] {
  const reading = readManifest(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.manifest.value;
}

const ADA = { user: "ada", namespace: "ml", taken: new Set<string>() };

test("each has nothing wrong, and a title and a sentence in both languages", () => {
  for (const { id, kind, text } of TEMPLATES) {
    expect(checkManifest(kind, valueOf(text)), id).toEqual([]);
    for (const words of [en, zh]) {
      const { title, text: sentence } = words.submit.template[id] ?? { title: "", text: "" };
      expect(title, id).not.toBe("");
      expect(sentence, id).not.toBe("");
    }
  }
});

test("each sort of program has one to begin with, and the page begins with MNIST", () => {
  expect(TEMPLATES[0]?.id).toBe("mnist");
  for (const [program, id] of Object.entries(FIRST_OF)) {
    expect(templateById(id).program).toBe(program);
  }
  // A replica that one never asked for would only fail in one's stead.
  expect(templateById(FIRST_OF.own).roles).toBe("worker 1");
});

test("only namespace, owner and a directory of its own are added to one", () => {
  const { text } = templateById("mnist");
  const mine = personal(text, ADA);
  const added = "  namespace: ml\n  annotations: {taas.dev/owner: ada}\n";
  const named = text.replace("  name: mnist\n", `  name: mnist\n${added}`);
  expect(mine).toBe(named.replace("/out/checkpoints", "/out/checkpoints/mnist"));
});

// Symptom: the page opened red, with a job called mnist that existed, before anybody did anything.
test("one whose name a job has gets the next that is free, and a directory of that name", () => {
  const taken = new Set(["mnist", "mnist-2", "mnist-4"]);
  const value = valueOf(personal(templateById("mnist").text, { ...ADA, taken }));
  expect(valueAt(value, ["metadata", "name"])).toBe("mnist-3");
  expect(valueAt(value, CHECKPOINT_DIR)).toBe("/out/checkpoints/mnist-3");
});

test("a job whose name is carried over has its directory under it", () => {
  const mine = personal(templateById("mnist").text, ADA);
  const old = valueOf("kind: TrainingJob\nmetadata: {name: mine}\nspec: {}\n");
  const value = valueOf(carriedOver(mine, old, "nvidia.com/gpu"));
  expect(valueAt(value, CHECKPOINT_DIR)).toBe("/out/checkpoints/mine");
});

test("what the user chose goes with her to another sort of program", () => {
  const old = valueOf(`kind: TrainingJob
metadata: {name: mine, namespace: ml}
spec: {roles: {worker: {replicas: 7, gpus: 2}}}
`);
  const value = valueOf(carriedOver(templateById("tfjob-own").text, old, "nvidia.com/gpu"));
  expect(valueAt(value, ["metadata"])).toEqual({ name: "mine", namespace: "ml" });
  const worker = valueAt(value, ["spec", "tfReplicaSpecs", "Worker"]);
  expect(worker).toMatchObject({
    replicas: 7,
    template: { spec: { containers: [{ resources: { limits: { "nvidia.com/gpu": 2 } } }] } },
  });
  // The other role, that shared the template, has none.
  const ps = valueAt(value, ["spec", "tfReplicaSpecs", "PS", "template", "spec", "containers", 0]);
  expect(ps).not.toHaveProperty("resources");
});
