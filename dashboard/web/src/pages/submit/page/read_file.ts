// A manifest from the user's disk: as it is, or not at all.

import { MANIFEST_BYTES_MAX } from "../manifest/read";

export type FileReading = { text: string } | { problem: "tooLarge" | "notText" };

export async function readFile(file: Blob): Promise<FileReading> {
  if (file.size > MANIFEST_BYTES_MAX) return { problem: "tooLarge" };
  try {
    // Characters that could not be read would otherwise be replaced without a word.
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()) };
  } catch {
    return { problem: "notText" };
  }
}
