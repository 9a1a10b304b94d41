// The map as a table: the same facts, one line for each GPU, sorted by any column.

import { useVirtualizer } from "@tanstack/react-virtual";
import type { ReactNode } from "react";
import { useCallback, useMemo, useRef } from "react";
import { useSearchParams } from "react-router";
import { Glyph } from "../../components/Glyph";
import { useText } from "../../i18n";
import type { Cell, NodeCells } from "./cells";
import { TableLine } from "./TableLine";
import type { Column, Sort } from "./table_columns";
import { COLUMNS, linesOf, readSort, sorted } from "./table_columns";

// As in table.css, in px.
const LINE = 31;
const OVERSCAN = 12;

interface Props {
  nodes: readonly NodeCells[];
  matches: ((cell: Cell) => boolean) | undefined;
}

export function GpuTable({ nodes, matches }: Props): ReactNode {
  const { t } = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const { sort, setSort } = useSort();
  const lines = useMemo(() => {
    const cells = nodes.flatMap((one) => one.cells);
    return sorted(linesOf(matches ? cells.filter(matches) : cells), sort);
  }, [nodes, matches, sort]);
  // eslint-disable-next-line react-hooks/incompatible-library -- we do not use the compiler
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: OVERSCAN,
  });
  const items = virtualizer.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    // The keyboard scrolls it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="gpus-table" ref={scroller} tabIndex={0} role="region" aria-label={t.gpus.table}>
      <table aria-rowcount={lines.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map((column) => (
              <Head key={column} column={column} sort={sort} setSort={setSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Filler height={before} />
          {items.map(({ index }) => {
            const line = lines[index];
            return line && <TableLine key={line.key} line={line} index={index + 2} />;
          })}
          <Filler height={after} />
        </tbody>
      </table>
    </div>
  );
}

/** In place of the lines that are out of sight. */
function Filler({ height }: { height: number }): ReactNode {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" className="gpus-filler">
      <td colSpan={COLUMNS.length} style={{ height }} />
    </tr>
  );
}

function useSort(): { sort: Sort; setSort: (sort: Sort) => void } {
  const [search, setSearch] = useSearchParams();
  const sort = useMemo(() => readSort(search), [search]);
  const setSort = useCallback(
    ({ column, descending }: Sort) =>
      setSearch(
        (now) => {
          const after = new URLSearchParams(now);
          after.set("sort", `${descending ? "-" : ""}${column}`);
          return after;
        },
        { replace: true },
      ),
    [setSearch],
  );
  return { sort, setSort };
}

interface HeadProps {
  column: Column;
  sort: Sort;
  setSort: (sort: Sort) => void;
}

function Head({ column, sort, setSort }: HeadProps): ReactNode {
  const { t } = useText();
  const here = sort.column === column;
  const order = sort.descending ? "descending" : "ascending";
  return (
    <th scope="col" aria-sort={here ? order : undefined} className={`gpus-column-${column}`}>
      <button
        type="button"
        className="gpus-sort"
        onClick={() => setSort({ column, descending: here && !sort.descending })}
      >
        {t.gpus.columns[column]}
        {here && <Glyph name={sort.descending ? "down" : "up"} />}
      </button>
    </th>
  );
}
