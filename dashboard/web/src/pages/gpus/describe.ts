// What a square is, in words: its name for screen readers, and words that card and table share.

import type { GpuHolder } from "../../api/types";
import type { Text } from "../../i18n";
import { wordFor } from "../../i18n";
import type { Cell } from "./cells";

type Words = Pick<Text, "t" | "format">;

export function nameOf(cell: Cell, { t }: Words): string {
  if (cell.device) return t.gpus.device(cell.device.id);
  return cell.kind === "held" ? t.gpus.deviceUnknown : t.gpus.nth(cell.index + 1);
}

export function replicaOf(holder: GpuHolder, { t }: Words): string | undefined {
  if (holder.role === undefined) return undefined;
  const role = wordFor(t.common.role, holder.role);
  return holder.index === undefined ? role : `${role}-${holder.index}`;
}

export function idleWords(holder: GpuHolder, { t }: Words): string | undefined {
  if (!holder.idle) return undefined;
  const reason = holder.idleReason;
  return reason === undefined ? t.gpus.isIdle : wordFor(t.gpus.idleReason, reason);
}

export function usedWords(cell: Cell, { t, format }: Words): string {
  const used = cell.device?.utilization;
  return used === undefined ? t.gpus.notMeasured : format.percent(used * 100);
}

export function memoryWords(cell: Cell, { t, format }: Words): string | undefined {
  const { memoryUsedMiB: used, memoryTotalMiB: total = cell.node.memoryMiB } = cell.device ?? {};
  if (used !== undefined && total !== undefined) {
    return t.gpus.memoryOf(format.memory(used), format.memory(total));
  }
  return used === undefined ? undefined : format.memory(used);
}

export function powerWords(cell: Cell, { t, format }: Words): string | undefined {
  const { powerWatts: watts, powerLimitWatts: limit } = cell.device ?? {};
  if (watts === undefined) return undefined;
  const drawn = t.gpus.watts(format.short(watts));
  return limit === undefined ? drawn : t.gpus.wattsOf(drawn, t.gpus.watts(format.short(limit)));
}

export function temperatureWords(cell: Cell, { t, format }: Words): string | undefined {
  const degrees = cell.device?.temperatureC;
  return degrees === undefined ? undefined : t.gpus.degrees(format.number(degrees));
}

/** What makes it slower than it could be; undefined: nobody says whether anything does. */
export function slowedWords(cell: Cell, { t }: Words): string | undefined {
  const reasons = cell.device?.throttle;
  if (reasons === undefined) return undefined;
  if (reasons.length === 0) return t.gpus.slowedByNothing;
  return reasons.map((reason) => wordFor(t.gpus.throttle, reason)).join(", ");
}

/** What somebody should look after; undefined: nothing is known of it. */
export function troubleWords(cell: Cell, words: Words): string | undefined {
  const { t, format } = words;
  const { throttle = [], eccUncorrected = 0 } = cell.device ?? {};
  const troubles = [];
  if (eccUncorrected > 0) troubles.push(t.gpus.memoryErrors(format.number(eccUncorrected)));
  if (throttle.length > 0) troubles.push(t.gpus.slowedBy(slowedWords(cell, words) ?? ""));
  return troubles.length === 0 ? undefined : troubles.join("; ");
}

/** "gpu-1, GPU 3; held; ml/mnist worker-0; ada; used 41 %" */
export function labelOf(cell: Cell, words: Words): string {
  const { t } = words;
  const parts = [`${cell.node.name}, ${nameOf(cell, words)}`, t.gpus.cell[cell.kind]];
  for (const holder of cell.holders) {
    const { namespace, pod, job, owner } = holder;
    const replica = replicaOf(holder, words);
    const who = job ? `${job.namespace}/${job.name}` : `${namespace}/${pod}`;
    parts.push(replica === undefined ? who : `${who} ${replica}`);
    if (owner !== undefined) parts.push(owner);
    const idle = idleWords(holder, words);
    if (idle !== undefined) parts.push(idle);
  }
  if (cell.kind === "held") {
    const used = cell.device?.utilization;
    parts.push(used === undefined ? t.gpus.notMeasured : t.gpus.usedShare(usedWords(cell, words)));
    if (!cell.device) parts.push(t.gpus.source.count);
  }
  if (cell.device?.health === "Unhealthy") parts.push(t.gpus.deviceHealth.Unhealthy);
  const trouble = troubleWords(cell, words);
  if (trouble !== undefined) parts.push(trouble);
  const claims = cell.device?.claims ?? cell.holders.length;
  if (claims > 1) parts.push(t.gpus.claims(claims));
  return parts.join("; ");
}
