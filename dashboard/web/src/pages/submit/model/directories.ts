// Directories that a job writes to and that end with its name, so that two jobs from one template
// do not go on from each other's checkpoints. One that its user called otherwise stays as it is.

import type { Op } from "../manifest/edit";
import type { Json, Path } from "../manifest/path";
import { samePath, valueAt } from "../manifest/path";
import { NAME } from "./fields";

export const CHECKPOINT_DIR: Path = ["spec", "trainer", "checkpoint", "dir"];
const DIRECTORIES: Path[] = [
  CHECKPOINT_DIR,
  ["spec", "trainer", "summaries", "dir"],
  ["spec", "trainer", "export", "dir"],
];

/** Whether no job of another name is to be expected in the directory. */
export function isOwn(value: Json, path: Path): boolean {
  const dir = valueAt(value, path);
  const name = valueAt(value, NAME);
  return typeof dir === "string" && typeof name === "string" && dir.endsWith(`/${name}`);
}

/** A directory of its own within each that is there. */
export function ownDirectoryOps(value: Json): Op[] {
  const name = valueAt(value, NAME);
  if (typeof name !== "string") return [];
  return DIRECTORIES.flatMap((path): Op[] => {
    const dir = valueAt(value, path);
    if (typeof dir !== "string" || isOwn(value, path)) return [];
    return [{ set: path, value: `${dir.replace(/\/+$/, "")}/${name}` }];
  });
}

/** `ops`; where they change the name, the directories that ended with it get the new one. */
export function withDirectories(value: Json, ops: readonly Op[]): Op[] {
  const before = valueAt(value, NAME);
  if (typeof before !== "string") return [...ops];
  return ops.flatMap((op): Op[] => {
    if (!("set" in op) || !samePath(op.set, NAME) || typeof op.value !== "string") return [op];
    const after = op.value;
    const moved = DIRECTORIES.flatMap((path): Op[] => {
      const dir = valueAt(value, path);
      if (typeof dir !== "string" || !isOwn(value, path)) return [];
      return [{ set: path, value: dir.slice(0, dir.length - before.length) + after }];
    });
    return [op, ...moved];
  });
}
