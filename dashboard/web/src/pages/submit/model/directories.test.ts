import { expect, test } from "vitest";
import type { Json } from "../manifest/path";
import { NAME } from "./fields";
import { CHECKPOINT_DIR, isOwn, ownDirectoryOps, withDirectories } from "./directories";

const SUMMARIES = ["spec", "trainer", "summaries", "dir"];

function job(name: string, checkpoint: string, summaries?: string): Json {
  return {
    metadata: { name },
    spec: {
      trainer: {
        checkpoint: { dir: checkpoint },
        ...(summaries === undefined ? {} : { summaries: { dir: summaries } }),
      },
    },
  };
}

test("a directory is a job's own where it ends with its name", () => {
  expect(isOwn(job("a", "/out/a"), CHECKPOINT_DIR)).toBe(true);
  expect(isOwn(job("a", "/out/ba"), CHECKPOINT_DIR)).toBe(false);
  expect(isOwn(job("a", "/out"), CHECKPOINT_DIR)).toBe(false);
  expect(isOwn({ metadata: { name: "a" } }, CHECKPOINT_DIR)).toBe(false);
});

test("one is made within each that is shared", () => {
  expect(ownDirectoryOps(job("a", "/out/checkpoints", "/out/logs/"))).toEqual([
    { set: CHECKPOINT_DIR, value: "/out/checkpoints/a" },
    { set: SUMMARIES, value: "/out/logs/a" },
  ]);
  expect(ownDirectoryOps(job("a", "/out/a"))).toEqual([]);
  expect(ownDirectoryOps({ metadata: { name: "a" } })).toEqual([]);
});

test("an exported model has one, too", () => {
  const value = { metadata: { name: "a" }, spec: { trainer: { export: { dir: "/out/models" } } } };
  expect(ownDirectoryOps(value)).toEqual([
    { set: ["spec", "trainer", "export", "dir"], value: "/out/models/a" },
  ]);
});

test("it follows the name, also while there is none", () => {
  const emptied = withDirectories(job("a", "/out/a", "/logs"), [{ set: NAME, value: "" }]);
  expect(emptied).toEqual([
    { set: NAME, value: "" },
    { set: CHECKPOINT_DIR, value: "/out/" },
  ]);
  expect(withDirectories(job("", "/out/"), [{ set: NAME, value: "b" }])).toEqual([
    { set: NAME, value: "b" },
    { set: CHECKPOINT_DIR, value: "/out/b" },
  ]);
});

test("one of another name, and other changes, stay", () => {
  const name = [{ set: NAME, value: "b" }];
  expect(withDirectories(job("a", "/out/shared"), name)).toEqual(name);
  const seed = [{ set: ["spec", "trainer", "seed"], value: 1 }];
  expect(withDirectories(job("a", "/out/a"), seed)).toEqual(seed);
  expect(withDirectories({}, name)).toEqual(name);
});
