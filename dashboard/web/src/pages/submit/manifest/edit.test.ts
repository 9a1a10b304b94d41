import { describe, expect, test } from "vitest";
import EXAMPLES from "../templates/examples.json";
import { applyOps, EditRefused } from "./edit";
import type { Op } from "./edit";
import type { Json, Path } from "./path";
import { isObject, pathText, sameValue, textOf, valueAt, withoutValue, withValue } from "./path";
import { readManifest } from "./read";

function valueOf(text: string): Json {
  const reading = readManifest(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.manifest.value;
}

const MANIFEST = `# What this trains.
apiVersion: taas.dev/v1
kind: TrainingJob
metadata:
  name: 'mnist'   # short

spec:
  trainer:
    model: {name: mlp, hidden: [500]}
    # Not more.
    maxSteps: 2000
  roles:
    ps: {replicas: 1}
    worker:
      replicas: 2 # two

      env:
        - name: A
          value: "1"
        - {name: B, value: "x"}  # kept
  suspend:
`;

const CASES: [string, Op, string, string][] = [
  [
    "a number",
    { set: ["spec", "trainer", "maxSteps"], value: 10 },
    "maxSteps: 2000",
    "maxSteps: 10",
  ],
  ["a text in its quotes", { set: ["metadata", "name"], value: "other" }, "'mnist'", "'other'"],
  [
    "a text that would read as a number",
    { set: ["spec", "roles", "worker", "env", 0, "value"], value: "2" },
    'value: "1"',
    'value: "2"',
  ],
  [
    "a field of a mapping in braces",
    { set: ["spec", "roles", "ps", "gpus"], value: 1 },
    "{replicas: 1}",
    "{replicas: 1, gpus: 1}",
  ],
  [
    "a field of a mapping in lines, in the order of the schema",
    { set: ["spec", "roles", "worker", "gpus"], value: 4 },
    "      replicas: 2 # two\n",
    "      replicas: 2 # two\n      gpus: 4\n",
  ],
  [
    "what is written as nothing",
    { set: ["spec", "suspend"], value: true },
    "suspend:",
    "suspend: true",
  ],
  [
    "an item of a list in brackets",
    { add: ["spec", "trainer", "model", "hidden"], value: 100 },
    "[500]",
    "[500, 100]",
  ],
  [
    "an item of a list in lines",
    { add: ["spec", "roles", "worker", "env"], value: { name: "C", value: "yes" } },
    "  # kept\n",
    '  # kept\n        - name: C\n          value: "yes"\n',
  ],
  [
    "several levels at once",
    { set: ["spec", "roles", "worker", "resources", "limits", "memory"], value: "4Gi" },
    "      replicas: 2 # two\n",
    "      replicas: 2 # two\n      resources:\n        limits: {memory: 4Gi}\n",
  ],
  ["a field that goes", { remove: ["spec", "trainer", "maxSteps"] }, "    maxSteps: 2000\n", ""],
  [
    "a field in braces that goes",
    { remove: ["spec", "trainer", "model", "hidden"] },
    ", hidden: [500]",
    "",
  ],
  [
    "the first field of an item that goes",
    { remove: ["spec", "roles", "worker", "env", 0, "name"] },
    '- name: A\n          value: "1"',
    '- value: "1"',
  ],
  [
    "an item that goes",
    { remove: ["spec", "roles", "worker", "env", 0] },
    '        - name: A\n          value: "1"\n',
    "",
  ],
  [
    "the last of what stays",
    { remove: ["spec", "roles", "ps", "replicas"], keep: 3 },
    "{replicas: 1}",
    "{}",
  ],
  [
    "the last of what goes with it",
    { remove: ["spec", "roles", "ps", "replicas"], keep: 2 },
    "    ps: {replicas: 1}\n",
    "",
  ],
];

describe("one change", () => {
  test.each(CASES)("%s leaves every other byte as it was", (_, op, before, after) => {
    expect(MANIFEST.split(before)).toHaveLength(2);
    expect(applyOps(MANIFEST, [op])).toBe(MANIFEST.replace(before, () => after));
  });

  test("of what is already so changes nothing", () => {
    expect(applyOps(MANIFEST, [{ set: ["metadata", "name"], value: "mnist" }])).toBe(MANIFEST);
    expect(applyOps(MANIFEST, [{ remove: ["spec", "volumes"] }])).toBe(MANIFEST);
  });

  test("keeps the line ends of Windows", () => {
    const windows = MANIFEST.replaceAll("\n", "\r\n");
    const text = applyOps(windows, [
      { set: ["spec", "roles", "worker", "gpus"], value: 4 },
      { add: ["spec", "roles", "worker", "env"], value: { name: "C", value: "c" } },
    ]);
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    expect(valueAt(valueOf(text), ["spec", "roles", "worker", "gpus"])).toBe(4);
  });

  test("works at the end of a text without a last line end", () => {
    expect(applyOps("a:\n  b: 1", [{ set: ["a", "c"], value: 2 }])).toBe("a:\n  b: 1\n  c: 2");
    expect(applyOps("a:\n  - 1", [{ add: ["a"], value: 2 }])).toBe("a:\n  - 1\n  - 2");
  });

  test("begins an empty text", () => {
    expect(applyOps("", [{ set: ["metadata", "name"], value: "a" }])).toBe(
      "metadata:\n  name: a\n",
    );
    const comment = "# later\n";
    expect(applyOps(comment, [{ set: ["kind"], value: "TFJob" }])).toBe("# later\nkind: TFJob\n");
  });

  test("keeps a text of several lines in lines", () => {
    const text = "args:\n  - |\n    a\n    b\n  - c\n";
    expect(applyOps(text, [{ set: ["args", 0], value: "x\ny\n" }])).toBe(
      "args:\n  - |\n    x\n    y\n  - c\n",
    );
  });

  test("works on a manifest in JSON", () => {
    const text = '{"metadata": {"name": "a"}, "spec": {"roles": {"worker": {}}}}\n';
    const name = applyOps(text, [{ set: ["metadata", "name"], value: "b" }]);
    expect(name).toBe(text.replace('"a"', '"b"'));
    const gpus = applyOps(text, [{ set: ["spec", "roles", "worker", "gpus"], value: 1 }]);
    expect(gpus).toBe(text.replace('"worker": {}', '"worker": {gpus: 1}'));
  });

  test("is refused in a text that cannot be read", () => {
    expect(() => applyOps("a: [", [{ set: ["a"], value: 1 }])).toThrow(EditRefused);
  });
});

describe("what is written once and used twice", () => {
  const ALIASED = `spec:
  roles:
    ps:
      template: &program
        spec:
          containers:
            - {name: trainer, image: "me/train:1"} # mine
    worker: {template: *program, replicas: 2}
`;
  const image = (role: string): Path => [
    "spec",
    "roles",
    role,
    "template",
    "spec",
    "containers",
    0,
    "image",
  ];

  test("is changed for one alone", () => {
    const text = applyOps(ALIASED, [{ set: image("worker"), value: "me/train:2" }]);
    const value = valueOf(text);
    expect(valueAt(value, image("worker"))).toBe("me/train:2");
    expect(valueAt(value, image("ps"))).toBe("me/train:1");
    expect(text).toContain('{name: trainer, image: "me/train:1"} # mine');
  });

  test("is changed for one alone at the place that has it, too", () => {
    const value = valueOf(applyOps(ALIASED, [{ set: image("ps"), value: "me/train:2" }]));
    expect(valueAt(value, image("worker"))).toBe("me/train:1");
    expect(valueAt(value, image("ps"))).toBe("me/train:2");
  });

  test("is changed for all of them in one place", () => {
    const text = applyOps(ALIASED, [{ set: image("worker"), value: "me/train:2", shared: true }]);
    expect(text).toBe(ALIASED.replace("me/train:1", "me/train:2"));
  });

  test("a field that was merged gets a value of its own", () => {
    const merged = "base: &base\n  a: 1\n  b: {c: 1, d: 2}\nuser:\n  <<: *base\n  e: 3\n";
    const value = valueOf(applyOps(merged, [{ set: ["user", "b", "c"], value: 9 }]));
    expect(value).toEqual({
      base: { a: 1, b: { c: 1, d: 2 } },
      user: { a: 1, b: { c: 9, d: 2 }, e: 3 },
    });
  });
});

function* leaves(value: Json, path: Path = []): Generator<[Path, Json]> {
  if (Array.isArray(value))
    for (const [i, item] of value.entries()) yield* leaves(item, [...path, i]);
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) yield* leaves(item, [...path, key]);
  } else yield [path, value];
}

function other(value: Json): Json {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  return `${textOf(value)}x`;
}

/** Lines of `after` that `before` does not have in the same place, from both ends. */
function changedLines(before: string, after: string): number {
  const a = before.split("\n");
  const b = after.split("\n");
  while (a.length > 0 && b.length > 0 && a[0] === b[0]) {
    a.shift();
    b.shift();
  }
  while (a.length > 0 && b.length > 0 && a.at(-1) === b.at(-1)) {
    a.pop();
    b.pop();
  }
  return Math.max(a.length, b.length);
}

describe.each(Object.entries(EXAMPLES))("in the example %s", (_, text) => {
  const value = valueOf(text);
  const plain = !text.includes("&");

  test("every value can be changed, and only its line changes", () => {
    for (const [path, old] of leaves(value)) {
      const next = other(old);
      const after = applyOps(text, [{ set: path, value: next }]);
      expect(sameValue(valueOf(after), withValue(value, path, next)), pathText(path)).toBe(true);
      // A folded text has lines of its own.
      const multiline = typeof old === "string" && old.length > 200;
      if (plain && !multiline) expect(changedLines(text, after), pathText(path)).toBe(1);
    }
  });

  test("every value can go and come back", () => {
    for (const [path, old] of leaves(value)) {
      if (typeof path.at(-1) === "number") continue;
      const without = applyOps(text, [{ remove: path }]);
      expect(sameValue(valueOf(without), withoutValue(value, path)), pathText(path)).toBe(true);
      const back = applyOps(without, [{ set: path, value: old }]);
      expect(sameValue(valueOf(back), value), pathText(path)).toBe(true);
      for (const comment of text.match(/^#.*$/gm) ?? []) expect(back).toContain(comment);
    }
  });
});
