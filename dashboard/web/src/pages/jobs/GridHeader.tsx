// The head of the table: select all, and a button per column that sorts by it.

import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { Glyph } from "../../components/Glyph";
import { useText } from "../../i18n";
import type { ColumnKey } from "./columns";
import { isSortable } from "./columns";
import type { Sort } from "./filter";

interface Props {
  columns: readonly ColumnKey[];
  sort: Sort;
  onSort: (sort: Sort) => void;
  /** Of the rows that show. */
  selected: "none" | "some" | "all";
  onSelectAll: (selected: boolean) => void;
}

export function GridHeader({ columns, sort, onSort, selected, onSelectAll }: Props): ReactNode {
  const { t } = useText();
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = selected === "some";
  }, [selected]);
  return (
    <div role="row" aria-rowindex={1} className="jobs-head jobs-places">
      <div role="columnheader" aria-colindex={1} className="jobs-cell jobs-select">
        <label className="jobs-select-all">
          <input
            ref={box}
            type="checkbox"
            aria-label={t.jobs.selectAll}
            checked={selected === "all"}
            onChange={(event) => onSelectAll(event.target.checked)}
          />
          <span>{t.jobs.selectAll}</span>
        </label>
      </div>
      {columns.map((column, index) => (
        <HeaderCell key={column} column={column} index={index + 2} sort={sort} onSort={onSort} />
      ))}
    </div>
  );
}

interface CellProps {
  column: ColumnKey;
  index: number;
  sort: Sort;
  onSort: (sort: Sort) => void;
}

function HeaderCell({ column, index, sort, onSort }: CellProps): ReactNode {
  const { t } = useText();
  const text = t.jobs.columns[column];
  const sorted = sort.column === column;
  const order = sort.descending ? "descending" : "ascending";
  const next = { column, descending: sorted && !sort.descending };
  return (
    <div
      role="columnheader"
      aria-colindex={index}
      aria-sort={sorted ? order : undefined}
      className={`jobs-cell jobs-${column}`}
    >
      {isSortable(column) ? (
        <button type="button" className="jobs-sort" onClick={() => onSort(next)}>
          {text}
          {sorted && <Glyph name={sort.descending ? "down" : "up"} />}
        </button>
      ) : (
        text
      )}
    </div>
  );
}
