// One GPU. Two channels: its face says who holds it, the bar below how busy it is; what nobody
// measures is dotted and never an empty bar.

import type { CSSProperties, ReactNode } from "react";
import { Glyph } from "../../components/Glyph";
import type { Cell } from "./cells";
import { groupOf } from "./cells";
import { lettersOf, styleOf } from "./job_style";

interface Props {
  cell: Cell;
  label: string;
  current: boolean;
  dimmed: boolean;
}

export function Square({ cell, label, current, dimmed }: Props): ReactNode {
  const [holder, other] = cell.holders;
  const unwell =
    cell.device?.health === "Unhealthy" || (cell.device?.claims ?? cell.holders.length) > 1;
  const classes = ["gpus-square", `gpus-${cell.kind}`];
  if (dimmed) classes.push("gpus-dimmed");
  if (unwell) classes.push("gpus-unwell");
  const idle = cell.holders.some((one) => one.idle);
  if (idle) classes.push("gpus-idle");
  return (
    <div
      role="gridcell"
      className={classes.join(" ")}
      aria-label={label}
      tabIndex={current ? 0 : -1}
      data-index={cell.index}
    >
      {holder && <Face name={holder.job?.name ?? holder.pod} group={groupOf(holder)} />}
      {other && <Face name={other.job?.name ?? other.pod} group={groupOf(other)} />}
      {cell.kind === "held" && <UsedBar used={cell.device?.utilization} />}
      {unwell && <Mark name="critical" />}
      {idle && !unwell && <Mark name="suspended" />}
    </div>
  );
}

export function Face({ name, group }: { name: string; group: string }): ReactNode {
  const { hue, pattern } = styleOf(group);
  return (
    // The letters are a look, like the hue, and no text: the square's name has it all.
    <span
      className={`gpus-face gpus-pattern-${pattern}`}
      style={{ "--gpus-hue": hue } as CSSProperties}
      data-letters={lettersOf(name)}
    />
  );
}

export function UsedBar({ used }: { used: number | undefined }): ReactNode {
  if (used === undefined) return <span className="gpus-used gpus-not-measured" />;
  const width = `${Math.min(100, Math.max(0, used * 100))}%`;
  return (
    <span className="gpus-used">
      <span className="gpus-used-share" style={{ width }} />
    </span>
  );
}

function Mark({ name }: { name: "critical" | "suspended" }): ReactNode {
  return (
    <span className={`gpus-mark gpus-mark-${name}`}>
      <Glyph name={name} />
    </span>
  );
}
