// Who waits, in order, with place and reason.

import { Button } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import type { QueueEntry } from "../../api/types";
import { Age } from "../../components/Age";
import { JobLink } from "../../components/JobLink";
import { useText } from "../../i18n";
import { Said } from "../../i18n/said";
import type { Waiting } from "./entries";

// What a person looks through, and what a page draws at once.
const STEP = 100;

interface Props {
  waiting: readonly Waiting[];
  /** Of Kueue: with the columns that only it has. */
  kueue: boolean;
}

export function PendingTable({ waiting, kueue }: Props): ReactNode {
  const { t } = useText();
  const [shown, setShown] = useState(STEP);
  const words = t.queues.columns;
  const rest = waiting.length - shown;
  return (
    <>
      <table className="queues-table" aria-label={t.queues.pending}>
        <thead>
          <tr>
            <th scope="col">{words.position}</th>
            <th scope="col">{words.job}</th>
            {kueue && <th scope="col">{words.queue}</th>}
            {kueue && <th scope="col">{words.priority}</th>}
            <th scope="col">{words.gpus}</th>
            <th scope="col">{words.owner}</th>
            <th scope="col">{words.since}</th>
            <th scope="col">{words.reason}</th>
          </tr>
        </thead>
        <tbody>
          {waiting.slice(0, shown).map((one) => (
            <Line key={one.key} waiting={one} kueue={kueue} />
          ))}
        </tbody>
      </table>
      {rest > 0 && (
        <Button className="queues-more" onClick={() => setShown(shown + STEP)}>
          {t.queues.more(Math.min(STEP, rest))}
        </Button>
      )}
    </>
  );
}

function Line({ waiting, kueue }: { waiting: Waiting; kueue: boolean }): ReactNode {
  const { t, format } = useText();
  const words = t.queues.columns;
  const { entry, line } = waiting;
  const { job, workload, namespace, queue, priority, gpus, owner, since, reason } = entry;
  const name = workload ?? "";
  return (
    <tr>
      <td data-name={words.position}>
        <Place entry={entry} />
      </td>
      <th scope="row" data-name={words.job}>
        {job ? (
          <JobLink job={job} full />
        ) : (
          <bdi>
            {namespace}/{name}
          </bdi>
        )}
      </th>
      {kueue && (
        <td data-name={words.queue}>
          <bdi>{queue ?? t.queues.noQueue}</bdi>
          {line !== "" && line !== queue && (
            <span className="muted">
              {" "}
              <bdi>{t.queues.of(line)}</bdi>
            </span>
          )}
        </td>
      )}
      {kueue && (
        <td className="numeric" data-name={words.priority}>
          {priority === undefined ? "—" : format.number(priority)}
        </td>
      )}
      <td className={gpus === 0 ? "numeric muted" : "numeric"} data-name={words.gpus}>
        {format.number(gpus)}
      </td>
      <td data-name={words.owner}>{owner === undefined ? "—" : <bdi>{owner}</bdi>}</td>
      <td data-name={words.since}>
        <Age since={since} />
      </td>
      <td className="queues-reason" data-name={words.reason}>
        {reason === "" ? (
          <span className="muted">{t.queues.noReason}</span>
        ) : (
          <Said text={reason} />
        )}
      </td>
    </tr>
  );
}

function Place({ entry: { position, state } }: { entry: QueueEntry }): ReactNode {
  const { t, format } = useText();
  if (position > 0) {
    return (
      <span className="queues-place numeric" title={t.queues.placeWhy(position)}>
        {format.number(position)}
      </span>
    );
  }
  return <span title={t.queues.stateWhy[state]}>{t.queues.states[state]}</span>;
}
