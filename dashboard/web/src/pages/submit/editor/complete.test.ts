import { expect, test } from "vitest";
import { completionAt } from "./complete";

function labels(text: string): string[] {
  const position = text.indexOf("¦");
  const found = completionAt("TrainingJob", text.replace("¦", ""), position);
  return (found?.options ?? []).map(({ label }) => label);
}

test("fields are proposed where a key comes", () => {
  expect(labels("¦")).toEqual(["apiVersion", "kind", "metadata", "spec"]);
  expect(labels("spec:\n  ro¦")).toContain("roles");
  expect(labels("spec:\n  roles:\n    ps: {¦")).toContain("restartPolicy");
  expect(labels("spec:\n  volumes:\n    - ¦")).toContain("mountPath");
  expect(labels("spec:\n  nothing:\n    ¦")).toEqual([]);
});

test("values are proposed where there are a few", () => {
  expect(labels("kind: ¦")).toEqual(["TrainingJob", "TFJob"]);
  expect(labels("apiVersion: ¦")).toEqual(["taas.dev/v1"]);
  expect(labels("spec:\n  restartScope: ¦")).toEqual(["Replica", "Job"]);
  expect(labels("spec:\n  suspend: t¦")).toEqual(["true", "false"]);
  expect(labels("spec:\n  backoffLimit: ¦")).toEqual([]);
});

test("a field that is a mapping ends with its colon", () => {
  const found = completionAt("TrainingJob", "spec:\n  ", 8);
  const apply = (label: string): unknown =>
    found?.options.find((option) => option.label === label)?.apply;
  expect(apply("roles")).toBe("roles:");
  expect(apply("suspend")).toBe("suspend: ");
});
