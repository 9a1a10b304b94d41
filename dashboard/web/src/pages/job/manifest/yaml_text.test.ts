import { expect, test } from "vitest";
import { parse } from "yaml";
import { partOf, withoutKept, yamlOf } from "./yaml_text";

// What readers of YAML have taken for something else than the text that it was.
const TRAPS = [
  "yes",
  "off",
  "null",
  "~",
  "",
  "0755",
  "0x1F",
  "1e3",
  "12:30:45",
  "2026-11-20",
  "- x",
  "a: b",
  "# no comment",
  "{{ x }}",
  "*ref",
  "&anchor",
  "!tag",
  "%dir",
  "@at",
  "line one\nline two\n",
  "trailing space ",
  "\ttab",
  "\u202eturned\u2066",
  "<<",
  "=",
  `${"word ".repeat(60)}end`,
];

test("every text comes back as it was, from readers of YAML 1.1 and 1.2", () => {
  const object = { list: TRAPS, map: Object.fromEntries(TRAPS.map((trap) => [trap, trap])) };
  const text = yamlOf(object);
  expect(parse(text)).toEqual(object);
  expect(parse(text, { version: "1.1", merge: false })).toEqual(object);
});

test("the same object gives the same bytes, also after a round trip", () => {
  const shared = { a: 1 };
  const object = { kind: "TrainingJob", spec: { one: shared, two: shared, list: [], map: {} } };
  const text = yamlOf(object);
  expect(yamlOf(parse(text))).toBe(text);
  expect(text).not.toContain("&");
});

test("the manifest is all but the status", () => {
  const object = {
    apiVersion: "taas.dev/v1",
    kind: "TrainingJob",
    metadata: { name: "a", namespace: "b" },
    spec: {},
    status: { state: "Running" },
  };
  expect(Object.keys(partOf(object, "manifest") as object)).toEqual([
    "apiVersion",
    "kind",
    "metadata",
    "spec",
  ]);
  expect(partOf(object, "status")).toEqual({ state: "Running" });
});

const plain = { apiVersion: "taas.dev/v1", kind: "TrainingJob", spec: {} };

// Symptom: the YAML of each job began with two lines that ran out of sight, taas.dev/ledger and
// last-applied-configuration.
test("what programs keep in an object can be left out, and nothing else is", () => {
  const applied = "kubectl.kubernetes.io/last-applied-configuration";
  const kept = { "taas.dev/ledger": "{}", [applied]: "{}" };
  const names = { name: "a", namespace: "b" };
  const object = { ...plain, metadata: { ...names, annotations: kept, managedFields: [{}] } };
  expect(withoutKept(object)).toEqual({ ...plain, metadata: names });
  const mine = { ...plain, metadata: { ...names, annotations: { ...kept, mine: "x" } } };
  expect(withoutKept(mine).metadata).toEqual({ ...names, annotations: { mine: "x" } });
});

test("an object without such is the same object", () => {
  for (const annotations of [undefined, null, "odd", {}, { mine: "x" }]) {
    const object = { ...plain, metadata: { name: "a", namespace: "b", annotations } };
    expect(withoutKept(object)).toBe(object);
  }
});
