import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test("schemas and examples are those of the repository", () => {
  const run = (): string =>
    execFileSync(process.execPath, ["scripts/submit.mjs", "--check"], {
      encoding: "utf8",
      stdio: "pipe",
    });
  expect(run).not.toThrow();
});
