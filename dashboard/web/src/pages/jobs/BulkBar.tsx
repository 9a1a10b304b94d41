// The line above the table: how many jobs show, and what to do with the selected ones.

import { Button } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { jobKey, jobPage } from "../../api/paths";
import { useServices } from "../../api/services";
import type { JobRow } from "../../api/types";
import { useKeepNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { useText } from "../../i18n";
import type { Action } from "./bulk";
import { ACTIONS } from "./bulk";
import { BulkDialog } from "./BulkDialog";
import type { ListedRow } from "./listed";
import { RUNS_MAX } from "../training/line_style";

interface Props {
  shown: number;
  all: number;
  selected: readonly ListedRow[];
  onClear: () => void;
  /** At the end of the line. */
  extra?: ReactNode;
}

export function BulkBar({ shown, all, selected, onClear, extra }: Props): ReactNode {
  const { t, format } = useText();
  const { readOnly } = useSession();
  // The rows are those of the moment of asking: the dialog must not change under the pointer.
  const [asked, setAsked] = useState<{ action: Action; rows: readonly JobRow[] }>();
  const close = (): void => {
    setAsked(undefined);
    onClear();
  };
  return (
    <div className="jobs-bar">
      {selected.length === 0 ? (
        <span className="muted numeric">
          {shown === all
            ? t.common.jobs(all)
            : t.jobs.shown(format.number(shown), format.number(all))}
        </span>
      ) : (
        <div className="jobs-bulk" role="toolbar" aria-label={t.jobs.bulk}>
          <span className="numeric">{t.jobs.selected(selected.length)}</span>
          {ACTIONS.map((action) => (
            <Button
              key={action}
              size="small"
              danger={action === "delete"}
              disabled={readOnly}
              onClick={() => setAsked({ action, rows: selected })}
            >
              {t.jobs.actions[action]}
            </Button>
          ))}
          <Compare selected={selected} />
          <Seen selected={selected} onDone={onClear} />
          <Button size="small" type="link" onClick={onClear}>
            {t.jobs.clearSelection}
          </Button>
          {readOnly && <span className="muted">{t.shell.readOnlyWhy}</span>}
        </div>
      )}
      {extra}
      {asked && (
        <BulkDialog
          action={asked.action}
          rows={asked.rows}
          onCancel={() => setAsked(undefined)}
          onDone={close}
        />
      )}
    </div>
  );
}

/** To the curves of the first, with those of the others in the same charts. */
function Compare({ selected }: { selected: readonly ListedRow[] }): ReactNode {
  const { t } = useText();
  const navigate = useNavigate();
  const keep = useKeepNamespace();
  const [first, ...others] = selected;
  const possible = first !== undefined && others.length > 0 && selected.length <= RUNS_MAX;
  const onClick = (): void => {
    if (!first) return;
    const to = keep(jobPage(first, "training"));
    const search = new URLSearchParams(to.search);
    search.set("with", others.map(jobKey).join(","));
    void navigate({ ...to, search: `?${search}` });
  };
  return (
    <Button
      size="small"
      disabled={!possible}
      title={possible ? undefined : t.jobs.compareWhy(RUNS_MAX)}
      onClick={onClick}
    >
      {t.jobs.compare}
    </Button>
  );
}

/** Of those that need attention: this person knows. */
function Seen(props: { selected: readonly ListedRow[]; onDone: () => void }): ReactNode {
  const { t } = useText();
  const { seen } = useServices();
  const troubled = props.selected.filter(({ health }) => health !== "ok");
  if (troubled.length === 0) return null;
  const all = troubled.every((row) => row.seen);
  const onClick = (): void => {
    seen.mark(troubled, !all);
    props.onDone();
  };
  return (
    <Button size="small" onClick={onClick}>
      {all ? t.common.markUnseen : t.common.markSeen}
    </Button>
  );
}
