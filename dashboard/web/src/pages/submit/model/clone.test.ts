import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../manifest/path";
import { isObject, withValue } from "../manifest/path";
import { readManifest } from "../manifest/read";
import EXAMPLES from "../templates/examples.json";
import { cloneOf, cloneText, OTHERS_ANNOTATIONS } from "./clone";

function valueOf(text: string): JsonObject {
  const reading = readManifest(text);
  if (!reading.ok || !isObject(reading.manifest.value)) throw new Error(text);
  return reading.manifest.value;
}

/** As an API server has it some time after it was made. */
function stored(object: JsonObject): JsonObject {
  const metadata = object.metadata as JsonObject;
  const annotations = {
    "taas.dev/owner": "ada",
    "taas.dev/ledger": '{"attempt":1}',
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
  };
  return {
    ...object,
    metadata: {
      annotations,
      creationTimestamp: "2026-03-01T12:00:00Z",
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: "2026-03-02T12:00:00Z",
      finalizers: ["foregroundDeletion", "example.org/keep"],
      generation: 4,
      labels: { team: "ctr" },
      managedFields: [{ manager: "kubectl" }],
      ...metadata,
      namespace: "ml",
      ownerReferences: [{ kind: "Pipeline", name: "p", uid: "1" }],
      resourceVersion: "77",
      selfLink: "/apis/…",
      uid: "0c1d",
    },
    status: { state: "Running" },
  };
}

/** What of it the user wrote. */
function written(object: JsonObject): JsonObject {
  return {
    ...object,
    metadata: {
      ...(object.metadata as JsonObject),
      namespace: "ml",
      labels: { team: "ctr" },
      annotations: { "taas.dev/owner": "ada" },
      finalizers: ["example.org/keep"],
    },
  };
}

describe.each(Object.entries(EXAMPLES))("a copy of the example %s", (_, text) => {
  const example = valueOf(text);
  const name = (example.metadata as JsonObject).name as string;

  test("differs in nothing but its name", () => {
    const copy = valueOf(cloneText(stored(example)));
    expect(copy).toEqual(withValue(written(example), ["metadata", "name"], `${name}-2`));
    const lists = (value: Json): string => JSON.stringify(value).replace(`${name}-2`, name);
    // Lists keep their order, too.
    expect(lists(copy.spec ?? null)).toBe(JSON.stringify(example.spec));
  });
});

// Symptom: of a manifest of 21 lines the copy had 37, with every default written out.
test("defaults that the API server has put in are left out, what was written is not", () => {
  const spec: JsonObject = { trainer: { maxSteps: 9, batchSize: 100 }, roles: {}, backoffLimit: 6 };
  const applied = JSON.stringify({ spec: { ...spec, backoffLimit: 6 } });
  const made: JsonObject = {
    ...{ apiVersion: "taas.dev/v1", kind: "TrainingJob" },
    metadata: {
      name: "a",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": applied },
    },
    spec: {
      ...spec,
      suspend: false,
      trainer: { maxSteps: 12, batchSize: 100, strategy: { type: "ParameterServer" } },
    },
  };
  expect(cloneOf(made).spec).toEqual({
    trainer: { maxSteps: 12, batchSize: 100 },
    roles: {},
    backoffLimit: 6,
  });
  // Of one that nobody applied it is not known what he wrote.
  const unknown = { ...made, metadata: { name: "a" } };
  expect(cloneOf(unknown).spec).toEqual(made.spec);
});

test("a copy of a copy is numbered on", () => {
  const object: JsonObject = { kind: "TFJob", metadata: { name: "a-9" }, spec: {} };
  expect(cloneOf(object).metadata).toEqual({ name: "a-10" });
});

test("annotations that nobody wrote leave none behind", () => {
  const annotations = { "taas.dev/ledger": "{}" };
  const object: JsonObject = { kind: "TFJob", metadata: { name: "a", annotations } };
  expect(cloneOf(object).metadata).toEqual({ name: "a-2" });
});

test("the ledger is called as the operator calls it", () => {
  const header = readFileSync("../../operator/api/job.h", "utf8");
  expect(header).toContain(`kLedgerAnnotation = "${OTHERS_ANNOTATIONS[0]}"`);
});

test("texts that would read as something else stay texts", () => {
  const args = ["yes", "0x1F", "1_000", "null", "", " a ", "a: b", "#c", "line\nline\n", "0777"];
  const object: JsonObject = { kind: "TFJob", metadata: { name: "a" }, spec: { args } };
  expect(valueOf(cloneText(object)).spec).toEqual({ args });
});
