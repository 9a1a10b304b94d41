// The table of jobs: a window of rows over as many as there are. A grid by ARIA: the keyboard moves
// over rows, of which one is a stop of the tab key.

import type { Range } from "@tanstack/react-virtual";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { ReactNode, RefObject } from "react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { createPath, useHref, useNavigate } from "react-router";
import { jobPage } from "../../api/paths";
import type { JobRow } from "../../api/types";
import { useKeepNamespace } from "../../app/namespace";
import { useKeptFocus } from "../../components/use_kept_focus";
import { useText } from "../../i18n";
import type { ColumnKey } from "./columns";
import type { Sort } from "./filter";
import { onGridKey } from "./grid_keys";
import { GridHeader } from "./GridHeader";
import type { RowActions } from "./GridRow";
import { GridRow } from "./GridRow";
import type { Layout } from "./layout";
import { HEADER_HEIGHTS, heightOf, ROW_HEIGHTS, useLayout } from "./layout";
import { usePeek } from "./MessagePeek";
import { leastWidth, placesOf } from "./shown_columns";

// Rows beyond the edges, so that fast scrolling shows no gaps.
const OVERSCAN = 10;

interface Props {
  rows: readonly JobRow[];
  columns: readonly ColumnKey[];
  sort: Sort;
  onSort: (sort: Sort) => void;
  selected: ReadonlySet<string>;
  onSelect: (row: JobRow, selected: boolean) => void;
  onSelectAll: (selected: boolean) => void;
}

export function JobsGrid(props: Props): ReactNode {
  const { rows, columns, sort, onSort, selected, onSelect, onSelectAll } = props;
  const { t } = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useLayout(scroller, leastWidth(columns));
  const uids = useMemo(() => rows.map(({ uid }) => uid), [rows]);
  const keyboard = useKeptFocus(uids, scroller, '[role="row"][tabindex="0"]');
  const { at, onFocus } = keyboard;
  const currentUid = uids[at];
  const virtualizer = useRows(rows, layout, scroller, at);
  const { href, open } = useJobPages();
  const { uid: peekUid, show: showPeek, hide: hidePeek, hideSoon: hidePeekSoon } = usePeek();
  const actions = useMemo(
    () => ({ onSelect, onFocus, showPeek, hidePeek, hidePeekSoon, href, open }),
    [onSelect, onFocus, showPeek, hidePeek, hidePeekSoon, href, open],
  );
  const height = virtualizer.scrollRect?.height ?? 0;
  const middle = (virtualizer.scrollOffset ?? 0) + height / 2;
  const places = useMemo(() => placesStyle(columns), [columns]);
  const keys = {
    rows,
    at,
    page: Math.max(1, Math.floor(height / ROW_HEIGHTS[layout]) - 1),
    goTo: (index: number) => {
      virtualizer.scrollToIndex(index);
      keyboard.goTo(index);
    },
    toggle: (row: JobRow) => onSelect(row, !selected.has(row.uid)),
    open,
  };
  return (
    <div className={`jobs-grid jobs-${layout}`} ref={scroller} onPointerLeave={hidePeekSoon}>
      {/* eslint-disable-next-line jsx-a11y/interactive-supports-focus -- one of its rows is */}
      <div
        role="grid"
        aria-label={t.jobs.title}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + 1}
        aria-multiselectable
        className="jobs-canvas"
        style={{ height: virtualizer.getTotalSize(), ...places }}
        onKeyDown={(event) => onGridKey(event, keys)}
        onBlur={keyboard.onBlur}
      >
        <GridHeader
          {...{ columns, sort, onSort, onSelectAll }}
          selected={extent(rows, selected)}
        />
        {virtualizer.getVirtualItems().map(({ index, start, size }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <GridRow
              key={row.uid}
              row={row}
              columns={columns}
              index={index}
              top={start}
              height={size}
              selected={selected.has(row.uid)}
              current={row.uid === currentUid}
              peek={row.uid === peekUid ? (start > middle ? "above" : "below") : "none"}
              actions={actions}
            />
          );
        })}
      </div>
    </div>
  );
}

/** For jobs.css, where each job has one line. */
function placesStyle(columns: readonly ColumnKey[]): Record<string, string> {
  const { areas, widths } = placesOf(columns);
  return { "--jobs-areas": areas, "--jobs-widths": widths };
}

function useJobPages(): Pick<RowActions, "href" | "open"> {
  const keep = useKeepNamespace();
  const navigate = useNavigate();
  const base = useHref("/");
  return useMemo(() => {
    const root = base.replace(/\/$/, "");
    return {
      href: (row) => root + createPath(keep(jobPage(row))),
      open: (row) => void navigate(keep(jobPage(row))),
    };
  }, [keep, navigate, base]);
}

function useRows(
  rows: readonly JobRow[],
  layout: Layout,
  scroller: RefObject<HTMLElement | null>,
  at: number,
) {
  // The keyboard's row stays, so that its focus is not lost when it scrolls out of sight.
  const rangeExtractor = useCallback(
    (range: Range) => {
      const window = defaultRangeExtractor(range);
      if (at >= range.count || window.includes(at)) return window;
      return [...window, at].sort((a, b) => a - b);
    },
    [at],
  );
  // eslint-disable-next-line react-hooks/incompatible-library -- we do not use the compiler
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(layout, rows[index]),
    getItemKey: (index) => rows[index]?.uid ?? index,
    overscan: OVERSCAN,
    paddingStart: HEADER_HEIGHTS[layout],
    scrollPaddingStart: HEADER_HEIGHTS[layout],
    rangeExtractor,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, layout]);
  return virtualizer;
}

function extent(rows: readonly JobRow[], selected: ReadonlySet<string>): "none" | "some" | "all" {
  if (selected.size === 0) return "none";
  const count = rows.reduce((sum, row) => sum + (selected.has(row.uid) ? 1 : 0), 0);
  if (count === 0) return "none";
  return count === rows.length ? "all" : "some";
}
