// All that is known of one GPU: pod, job, owner, since when, its device, how busy it is, and where
// each fact comes from.

import { Button } from "antd";
import type { CSSProperties, ReactNode } from "react";
import { Fragment } from "react";
import { jobKey } from "../../api/paths";
import type { GpuHolder } from "../../api/types";
import { Age } from "../../components/Age";
import { Glyph } from "../../components/Glyph";
import { JobLink } from "../../components/JobLink";
import { RoleBadge, StateTag } from "../../components/Tags";
import { productName } from "../../components/product";
import { useText, wordFor } from "../../i18n";
import type { Cell } from "./cells";
import { sourceOf } from "./cells";
import {
  idleWords,
  memoryWords,
  nameOf,
  powerWords,
  slowedWords,
  temperatureWords,
  usedWords,
} from "./describe";
import { UsedBar } from "./Square";
import type { Card, CardControl } from "./use_card";

// Between square and card, and to the edges of the window.
const SPACE = 6;
const CARD_WIDTH = 380;

interface Props {
  cell: Cell;
  card: Card;
  control: CardControl;
  onJob: (job: string) => void;
}

export function CellCard({ cell, card, control, onJob }: Props): ReactNode {
  const text = useText();
  const { t } = text;
  const { device, holders, node } = cell;
  const claims = device?.claims ?? holders.length;
  const errors = device?.eccUncorrected ?? 0;
  return (
    // The square has it all in its name; here it is for eyes.
    <div
      className="gpus-card"
      style={placeOf(card)}
      onPointerEnter={control.stay}
      onPointerLeave={control.leave}
    >
      <div className="gpus-card-title">
        <b>
          <bdi>{nameOf(cell, text)}</bdi>
        </b>
        <span className="muted">
          <bdi>{node.name}</bdi>
          {node.product !== "" && <> · {productName(node.product, t)}</>}
        </span>
      </div>
      {claims > 1 && (
        <p className="gpus-card-alert">
          <Glyph name="critical" tone="critical" /> {t.gpus.claims(claims)}
        </p>
      )}
      {errors > 0 && (
        <p className="gpus-card-alert">
          <Glyph name="critical" tone="critical" />{" "}
          {t.gpus.memoryErrors(text.format.number(errors))}. {t.gpus.memoryErrorsWhat}
        </p>
      )}
      {cell.kind !== "held" && <p>{t.gpus.cell[cell.kind]}</p>}
      {holders.map((holder) => (
        <Holder
          key={`${holder.namespace}/${holder.pod}`}
          cell={cell}
          holder={holder}
          onJob={onJob}
        />
      ))}
      <Facts cell={cell} />
    </div>
  );
}

/** How busy and how well the device is; what nobody measures is not there. */
function Facts({ cell }: { cell: Cell }): ReactNode {
  const text = useText();
  const { t } = text;
  const { device } = cell;
  const measured = [
    [t.gpus.columns.memory, memoryWords(cell, text)],
    [t.gpus.power, powerWords(cell, text)],
    [t.gpus.temperature, temperatureWords(cell, text)],
    [t.gpus.slowed, slowedWords(cell, text)],
  ] as const;
  return (
    <dl className="gpus-facts">
      {cell.kind === "held" && (
        <>
          <dt>{t.gpus.columns.used}</dt>
          <dd>
            {device?.utilization !== undefined && <UsedBar used={device.utilization} />}
            {usedWords(cell, text)}
          </dd>
        </>
      )}
      {measured.map(([name, words]) => {
        if (words === undefined) return null;
        return (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </Fragment>
        );
      })}
      {device && (
        <>
          <dt>{t.gpus.columns.health}</dt>
          <dd className={device.health === "Unhealthy" ? "gpus-bad" : undefined}>
            {wordFor(t.gpus.deviceHealth, device.health)}
          </dd>
        </>
      )}
    </dl>
  );
}

interface HolderProps {
  cell: Cell;
  holder: GpuHolder;
  onJob: Props["onJob"];
}

function Holder({ cell, holder, onJob }: HolderProps): ReactNode {
  const text = useText();
  const { t } = text;
  const { job } = holder;
  const idle = idleWords(holder, text);
  return (
    <div className="gpus-card-holder">
      {idle !== undefined && (
        <p className="gpus-card-idle">
          <Glyph name="suspended" tone="warning" /> {idle}
        </p>
      )}
      <dl className="gpus-facts">
        <dt>{t.gpus.columns.job}</dt>
        <dd>{job ? <JobLink job={job} full /> : <span className="muted">{t.gpus.noJob}</span>}</dd>
        {holder.role !== undefined && (
          <>
            <dt>{t.gpus.columns.replica}</dt>
            <dd>
              <RoleBadge
                role={holder.role}
                {...(holder.index === undefined ? {} : { index: holder.index })}
              />
            </dd>
          </>
        )}
        <dt>{t.gpus.columns.pod}</dt>
        <dd>
          <bdi>
            {holder.namespace}/{holder.pod}
          </bdi>{" "}
          <StateTag state={holder.state} />
        </dd>
        <dt>{t.gpus.columns.owner}</dt>
        <dd>{holder.owner === undefined ? "—" : <bdi>{holder.owner}</bdi>}</dd>
        <dt>{t.gpus.columns.since}</dt>
        <dd>
          <Age since={holder.since} long />
        </dd>
        <dt>{t.gpus.columns.source}</dt>
        <dd>
          {wordFor(t.gpus.source, sourceOf(cell, holder))}
          {holder.count > 1 && <span className="muted"> · {t.gpus.podHolds(holder.count)}</span>}
        </dd>
      </dl>
      {job && (
        <Button size="small" tabIndex={-1} onClick={() => onJob(jobKey(job))}>
          {t.gpus.allOfJob}
        </Button>
      )}
    </div>
  );
}

/** Below the square, or above one in the lower half; within the window. */
function placeOf({ at }: Card): CSSProperties {
  const { innerWidth, innerHeight } = window;
  const width = Math.min(CARD_WIDTH, innerWidth - 2 * SPACE);
  const left = Math.max(SPACE, Math.min(at.left, innerWidth - width - SPACE));
  const isBelow = at.bottom < innerHeight / 2;
  const room = isBelow ? innerHeight - at.bottom : at.top;
  return {
    left,
    ...(isBelow ? { top: at.bottom + SPACE } : { bottom: innerHeight - at.top + SPACE }),
    maxWidth: width,
    maxHeight: room - 2 * SPACE,
  };
}
