// Selected lines, to the clipboard.

import { copyText } from "../../components/copy_text";
import type { Line } from "./log_store";
import type { LogSession } from "./session";

/** "2026-11-21T05:54:17.250Z worker-0 step 10", as a download has it. */
export function linesAsText(lines: readonly Line[]): string {
  return lines
    .map(({ time, replica, text, kind }) => {
      const words = kind === "line" ? [] : [`# ${kind}:`];
      if (!Number.isNaN(time)) words.push(new Date(time).toISOString());
      if (replica !== "") words.push(replica);
      return [...words, text].join(" ");
    })
    .join("\n");
}

export async function copyLines(session: LogSession): Promise<void> {
  await copyText(`${linesAsText(session.selected())}\n`);
}
