import { expect, test } from "vitest";
import { pathText } from "../manifest/path";
import { contextAt } from "./context";

/** The cursor is at "|". */
function at(text: string): string {
  const position = text.indexOf("¦");
  const context = contextAt(text.replace("¦", ""), position);
  if (!context) return "nothing";
  const typed = text.slice(context.from, position);
  return `${context.expects} of ${pathText(context.path)}, after "${typed}"`;
}

test.each([
  ["¦", 'key of , after ""'],
  ["spec:\n  ro¦", 'key of spec, after "ro"'],
  ["spec:\n  roles:\n    worker:\n      ¦", 'key of spec.roles.worker, after ""'],
  ["spec:\n  roles:\n    ps: {}\n  ¦", 'key of spec, after ""'],
  ["spec:\n  restartScope: J¦", 'value of spec.restartScope, after "J"'],
  ["spec:\n  restartScope: ¦", 'value of spec.restartScope, after ""'],
  ["spec:\n  roles:\n    ps: {repl¦", 'key of spec.roles.ps, after "repl"'],
  [
    "spec:\n  roles:\n    ps: {replicas: 1, restartPolicy: N¦",
    'value of spec.roles.ps.restartPolicy, after "N"',
  ],
  ["spec:\n  roles:\n    ps: {replicas: 1, ¦", 'key of spec.roles.ps, after ""'],
  ["spec:\n  volumes:\n    - name: a\n      ¦", 'key of spec.volumes[0], after ""'],
  ["spec:\n  volumes:\n    - name: a\n    - mo¦", 'key of spec.volumes[1], after "mo"'],
  ["spec:\n  volumes:\n  - name: a\n    mo¦", 'key of spec.volumes[0], after "mo"'],
  ["spec:\n  volumes:\n  - name: a\n  su¦", 'key of spec, after "su"'],
  ["a:\n  # of b\n\n  b: 1\n  ¦", 'key of a, after ""'],
  ["a:\n  b: |\n    c: 1\n    d¦", "nothing"],
  ["a:\n  b: |\n    c: 1\n  d¦", 'key of a, after "d"'],
  ["a: {b: [1, 2,\n   3], c: ¦", 'value of a.c, after ""'],
  ['a: {b: "x, {", c¦', 'key of a, after "c"'],
  ["# a: ¦", "nothing"],
])("in %j it is %s", (text, wanted) => {
  expect(at(text)).toBe(wanted);
});
