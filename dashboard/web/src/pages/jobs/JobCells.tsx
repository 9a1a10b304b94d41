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
import { useText } from "../../i18n";
import type { ColumnKey } from "./columns";

/** Of the whole table, the same in each render. */
export interface CellActions {
  onSelect: (row: JobRow, selected: boolean) => void;
  href: (row: JobRow) => string;
  open: (row: JobRow) => void;
}

interface Props {
  row: ListedRow;
  selected: boolean;
  /** The row that the keyboard is on: only its parts are stops of the tab key. */
  current: boolean;
  actions: CellActions;
}

export const JobCells = memo(function JobCells(props: Props): ReactNode {
  const { row, selected, current, actions } = props;
  const { t } = useText();
  const tabIndex = current ? 0 : -1;
  const { gpus, restarts, owner, queue } = t.jobs.columns;
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
      {cell(
        "health",
        2,
        <HealthTag health={row.health} reason={row.healthReason} seen={row.seen} />,
      )}
      {cell(
        "name",
        3,
        <a
          className="job-link"
          href={actions.href(row)}
          title={row.name}
          tabIndex={tabIndex}
          onClick={(event) => follow(event, row, actions.open)}
        >
          <bdi>{row.name}</bdi>
        </a>,
      )}
      {cell("namespace", 4, text(row.namespace))}
      {cell("kind", 5, text(row.kind))}
      {cell("state", 6, <StateTag state={row.state} deleting={row.deleting} />)}
      {cell("ready", 7, <RolesSummary roles={row.roles} />)}
      {cell("gpus", 8, number(row.gpus), gpus)}
      {cell("progress", 9, <ProgressBar progress={row.progress} ended={row.state !== "Running"} />)}
      {cell("restarts", 10, number(row.restarts), restarts)}
      {/* Its whole text shows below the row: see MessagePeek. */}
      {cell("message", 11, <Message text={row.message} />)}
      {cell("age", 12, <Age since={row.created} />)}
      {cell("owner", 13, text(row.owner), owner)}
      {cell("queue", 14, text(row.queue), queue)}
    </>
  );
});

// The cause is at the end of a sentence: that stays where there is no room for all of it.
const TAIL_CHARACTERS = 44;

function Message({ text }: { text: string }): ReactNode {
  const space = text.indexOf(" ", text.length - TAIL_CHARACTERS);
  const cut = text.length <= 2 * TAIL_CHARACTERS || space < 0 ? text.length : space;
  return (
    <bdi className="jobs-sentence">
      <span className="jobs-text">{text.slice(0, cut)}</span>
      {cut < text.length && <span className="jobs-text jobs-tail">{text.slice(cut)}</span>}
    </bdi>
  );
}

/** label: stands before the value where there is no header above it. */
function cell(column: ColumnKey, index: number, content: ReactNode, label?: string): ReactNode {
  return (
    <div
      role="gridcell"
      aria-colindex={index}
      className={`jobs-cell jobs-${column}`}
      data-label={label}
    >
      {content}
    </div>
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

/** As a link of the router; what opens a new tab or window is left to the browser. */
function follow(event: MouseEvent, row: JobRow, open: (row: JobRow) => void): void {
  const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (event.button !== 0 || elsewhere) return;
  event.preventDefault();
  open(row);
}
