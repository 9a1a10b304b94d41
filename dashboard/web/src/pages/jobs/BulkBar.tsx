// The line above the table: how many jobs show, and what to do with the selected ones.

import { Button } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import type { JobRow } from "../../api/types";
import { useSession } from "../../app/session";
import { useText } from "../../i18n";
import type { Action } from "./bulk";
import { ACTIONS } from "./bulk";
import { BulkDialog } from "./BulkDialog";

interface Props {
  shown: number;
  all: number;
  selected: readonly JobRow[];
  onClear: () => void;
}

export function BulkBar({ shown, all, selected, onClear }: Props): ReactNode {
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
          <Button size="small" type="link" onClick={onClear}>
            {t.jobs.clearSelection}
          </Button>
          {readOnly && <span className="muted">{t.shell.readOnlyWhy}</span>}
        </div>
      )}
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
