import { describe, expect, test } from "vitest";
import { differences } from "./spec_diff";

describe("where specs differ", () => {
  test("only what is not the same in all is named, by its path", () => {
    const a = { trainer: { model: { name: "mlp", hidden: [500] }, batchSize: 100 } };
    const b = { trainer: { model: { name: "mlp", hidden: [100] }, batchSize: 100 } };
    expect(differences([a, b])).toEqual([
      { path: "trainer.model.hidden", values: ["[500]", "[100]"] },
    ]);
  });

  test("a field that one has not is a difference", () => {
    const specs = [{ roles: { ps: { replicas: 1 } } }, { roles: {} }, { roles: {} }];
    expect(differences(specs)).toEqual([
      { path: "roles", values: [undefined, "{}", "{}"] },
      { path: "roles.ps.replicas", values: ["1", undefined, undefined] },
    ]);
  });

  test("things with a name are compared with those of the same name, in any order", () => {
    const data = { name: "data", mountPath: "/data" };
    const out = { name: "out", mountPath: "/out" };
    expect(differences([{ volumes: [data, out] }, { volumes: [out, data] }])).toEqual([]);
    expect(
      differences([{ volumes: [data] }, { volumes: [{ ...data, mountPath: "/mnist" }] }]),
    ).toEqual([{ path: "volumes[data].mountPath", values: ["/data", "/mnist"] }]);
  });

  test("a number and the same number as text are two", () => {
    expect(differences([{ a: { b: null } }, { a: { b: "null " } }])).toHaveLength(1);
  });

  test("numbers in paths are in their order", () => {
    const of = (value: string) => ({ args: Array.from({ length: 11 }, () => ({ value })) });
    const paths = differences([of("x"), of("y")]).map(({ path }) => path);
    expect(paths[1]).toBe("args[1].value");
    expect(paths[10]).toBe("args[10].value");
  });

  test("what is not known is compared with nothing", () => {
    const a = { maxSteps: 100 };
    expect(differences([a, undefined])).toEqual([]);
    expect(differences([a, undefined, { maxSteps: 9 }])).toEqual([
      { path: "maxSteps", values: ["100", undefined, "9"] },
    ]);
  });
});
