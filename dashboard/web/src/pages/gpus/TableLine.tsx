// One line of the table of GPUs.

import type { ReactNode } from "react";
import { memo } from "react";
import { Age } from "../../components/Age";
import { Glyph } from "../../components/Glyph";
import { JobLink } from "../../components/JobLink";
import { productName } from "../../components/product";
import { useText, wordFor } from "../../i18n";
import { sourceOf } from "./cells";
import { idleWords, memoryWords, replicaOf, troubleWords, usedWords } from "./describe";
import { UsedBar } from "./Square";
import type { Line } from "./table_columns";

interface Props {
  line: Line;
  index: number;
}

export const TableLine = memo(function TableLine({ line, index }: Props): ReactNode {
  const text = useText();
  const { t } = text;
  const { cell, holder } = line;
  const { node, device } = cell;
  const held = cell.kind === "held";
  const product = productName(node.product, t);
  const trouble = troubleWords(cell, text);
  const why = node.simulated ? t.gpus.simulatedWhy : product;
  return (
    <tr aria-rowindex={index}>
      <th scope="row">
        <bdi>{node.name}</bdi>
      </th>
      <td>
        {device ? <bdi title={device.id}>{device.id}</bdi> : <Unknown held={held} />}
      </td>
      <td>{product === "" ? "—" : <bdi title={why}>{product}</bdi>}</td>
      <td>
        <Status line={line} />
      </td>
      <td>
        {holder?.job && <JobLink job={holder.job} full />}
        {holder && !holder.job && (
          <bdi title={t.gpus.noJob}>
            {holder.namespace}/{holder.pod}
          </bdi>
        )}
        {!holder && "—"}
      </td>
      <td>{(holder && replicaOf(holder, text)) ?? "—"}</td>
      <td>
        {holder?.owner === undefined ? "—" : <bdi title={holder.owner}>{holder.owner}</bdi>}
      </td>
      <td className="numeric">
        {held ? (
          <span className="gpus-used-cell">
            {device?.utilization !== undefined && <UsedBar used={device.utilization} />}
            {usedWords(cell, text)}
          </span>
        ) : (
          "—"
        )}
      </td>
      <td className="numeric" title={memoryWords(cell, text)}>
        {device?.memoryUsedMiB === undefined ? "—" : text.format.memory(device.memoryUsedMiB)}
      </td>
      <td className={device?.health === "Unhealthy" ? "gpus-bad" : undefined} title={trouble}>
        {device ? wordFor(t.gpus.deviceHealth, device.health) : "—"}
        {trouble !== undefined && <span className="gpus-bad"> · {trouble}</span>}
      </td>
      <td>{holder ? wordFor(t.gpus.sourceShort, sourceOf(cell, holder)) : "—"}</td>
      <td>
        <Age since={holder?.since} />
      </td>
    </tr>
  );
});

function Unknown({ held }: { held: boolean }): ReactNode {
  const { t } = useText();
  return <span className="muted">{held ? t.gpus.countOnly : "—"}</span>;
}

function Status({ line: { cell, holder } }: { line: Line }): ReactNode {
  const text = useText();
  const { t } = text;
  const claims = cell.device?.claims ?? cell.holders.length;
  if (claims > 1) {
    return (
      <span className="gpus-status" title={t.gpus.claims(claims)}>
        <Glyph name="critical" tone="critical" />
        {t.gpus.cell.held} ×{claims}
      </span>
    );
  }
  const idle = holder && idleWords(holder, text);
  if (idle !== undefined) {
    return (
      <span className="gpus-status" title={idle}>
        <Glyph name="suspended" tone="warning" />
        {t.gpus.notWorking}
      </span>
    );
  }
  return (
    <span className={cell.kind === "held" ? undefined : "muted"} title={t.gpus.cell[cell.kind]}>
      {t.gpus.cell[cell.kind]}
    </span>
  );
}
