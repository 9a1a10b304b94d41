// The cells of one row. Memoised: of 5,000 rows only those render that have changed and are in
// sight. Scrolling draws a few of them in each frame, so they are plain elements.

import type { MouseEvent, ReactNode } from "react";
import { memo } from "react";
import type { JobRow } from "../../api/types";
import type { ListedRow } from "./listed";
import { Age } from "../../components/Age";
import { ProgressBar } from "../../components/ProgressBar";
import { RolesSummary } from "../../components/Roles";
import { HealthTag, StateTag } from "../../components/Tags";
import type { Text } from "../../i18n";
import { useText } from "../../i18n";
import { useSaid } from "../../i18n/said";
import { briefOf } from "../job/headline";
import type { ColumnKey } from "./columns";

/** Of the whole table, the same in each render. */
export interface CellActions {
  onSelect: (row: JobRow, selected: boolean) => void;
  href: (row: JobRow) => string;
  open: (row: JobRow) => void;
}

interface Props {
  row: ListedRow;
  columns: readonly ColumnKey[];
  selected: boolean;
  /** The row that the keyboard is on: only its parts are stops of the tab key. */
  current: boolean;
  actions: CellActions;
}

export const JobCells = memo(function JobCells(props: Props): ReactNode {
  const { row, columns, selected, current, actions } = props;
  const words = useText();
  const { t } = words;
  const tabIndex = current ? 0 : -1;
  return (
    <>
      <div role="gridcell" aria-colindex={1} className="jobs-cell jobs-select">
        <input
          type="checkbox"
          aria-label={t.jobs.select(row.name)}
          checked={selected}
          tabIndex={tabIndex}
          onChange={(event) => actions.onSelect(row, event.target.checked)}
        />
      </div>
      {columns.map((column, place) => (
        <div
          key={column}
          role="gridcell"
          aria-colindex={place + 2}
          className={`jobs-cell jobs-${column}`}
          // Stands before the value where there is no header above it.
          data-label={NAMED.includes(column) ? t.jobs.columns[column] : undefined}
        >
          {column === "name" ? (
            <a
              className="job-link"
              href={actions.href(row)}
              title={row.name}
              tabIndex={tabIndex}
              onClick={(event) => follow(event, row, actions.open)}
            >
              <bdi>{row.name}</bdi>
            </a>
          ) : (
            CELLS[column](row, words)
          )}
        </div>
      ))}
    </>
  );
});

const NAMED: readonly ColumnKey[] = ["gpus", "loss", "accuracy", "restarts", "owner", "queue"];

const CELLS: Record<Exclude<ColumnKey, "name">, (row: ListedRow, text: Text) => ReactNode> = {
  health: (row) => <HealthTag health={row.health} reason={row.healthReason} seen={row.seen} />,
  namespace: (row) => text(row.namespace),
  kind: (row) => text(row.kind),
  state: (row) => <StateTag state={row.state} deleting={row.deleting} />,
  ready: (row) => <RolesSummary roles={row.roles} />,
  gpus: ({ gpus, gpusAsked }, { t }) =>
    gpusAsked === undefined ? (
      number(gpus)
    ) : (
      <span className="numeric" title={t.gpus.heldOfAsked(gpus, gpusAsked)}>
        {gpus}/{gpusAsked}
      </span>
    ),
  progress: (row) => <ProgressBar progress={row.progress} ended={row.state !== "Running"} />,
  loss: ({ progress }, { format }) => measured(progress?.loss, format.short),
  accuracy: ({ progress }, { format }) =>
    measured(progress?.accuracy, (part) => format.percent(part * 100)),
  restarts: (row) => number(row.restarts),
  // Its whole text shows below the row: see MessagePeek.
  message: (row) => <Message text={row.message} />,
  age: (row) => <Age since={row.created} />,
  owner: (row) => text(row.owner),
  queue: (row) => text(row.queue),
};

// The cause is at the end of a sentence: that stays where there is no room for all of it.
const TAIL_CHARACTERS = 44;

function Message(props: { text: string }): ReactNode {
  const text = useSaid().said(briefOf(props.text));
  const space = text.indexOf(" ", text.length - TAIL_CHARACTERS);
  const cut = text.length <= 2 * TAIL_CHARACTERS || space < 0 ? text.length : space;
  return (
    <bdi className="jobs-sentence">
      <span className="jobs-text">{text.slice(0, cut)}</span>
      {cut < text.length && <span className="jobs-text jobs-tail">{text.slice(cut)}</span>}
    </bdi>
  );
}

/** Of the cluster: cut at the end of the cell, whole as its title. */
function text(value: string | undefined): ReactNode {
  if (value === undefined || value === "") return null;
  return (
    <bdi className="jobs-text" title={value}>
      {value}
    </bdi>
  );
}

function number(value: number): ReactNode {
  return <span className={value === 0 ? "numeric muted" : "numeric"}>{value}</span>;
}

function measured(value: number | undefined, words: (value: number) => string): ReactNode {
  return value === undefined ? null : <span className="numeric">{words(value)}</span>;
}

/** As a link of the router; what opens a new tab or window is left to the browser. */
function follow(event: MouseEvent, row: JobRow, open: (row: JobRow) => void): void {
  const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (event.button !== 0 || elsewhere) return;
  event.preventDefault();
  open(row);
}
