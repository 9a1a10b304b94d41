// Which columns the table shows: a button and a list of ticks. Plain elements: the page loads no
// more for it.

import type { ReactNode } from "react";
import { useEffect, useId, useRef, useState } from "react";
import { useText } from "../../i18n";
import type { ColumnKey } from "./columns";
import type { Hidden } from "./shown_columns";
import { CHOSEN } from "./shown_columns";

interface Props {
  hidden: Hidden;
  setHidden: (hidden: Hidden) => void;
}

export function ColumnChooser({ hidden, setHidden }: Props): ReactNode {
  const { t } = useText();
  const [open, setOpen] = useState(false);
  const all = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useId();
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event: PointerEvent): void => {
      if (!all.current?.contains(event.target as Node)) setOpen(false);
    };
    const escape = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("keydown", escape);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("keydown", escape);
    };
  }, [open]);
  const toggle = (column: ColumnKey, on: boolean): void => {
    const next = new Set(hidden);
    if (on) next.delete(column);
    else next.add(column);
    setHidden(next);
  };
  return (
    <div className="jobs-chooser" ref={all}>
      <button
        ref={button}
        type="button"
        className="jobs-chooser-button"
        aria-expanded={open}
        aria-controls={list}
        onClick={() => setOpen(!open)}
      >
        {t.jobs.chooseColumns}
      </button>
      {open && (
        <div id={list} role="group" aria-label={t.jobs.chooseColumns} className="jobs-chooser-list">
          {CHOSEN.map((column) => (
            <label key={column}>
              <input
                type="checkbox"
                checked={!hidden.has(column)}
                onChange={(event) => toggle(column, event.target.checked)}
              />
              {t.jobs.columns[column]}
            </label>
          ))}
          <button
            type="button"
            className="jobs-chooser-button"
            onClick={() => setHidden(new Set())}
          >
            {t.jobs.allColumns}
          </button>
        </div>
      )}
    </div>
  );
}
