// The first page: all jobs that this user may see, live.

import type { ReactNode } from "react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useConnection } from "../../api/use_stream";
import type { JobRow } from "../../api/types";
import { useNamespace } from "../../app/namespace";
import { useAnnounce } from "../../components/Announcer";
import { ErrorPanel } from "../../components/ErrorPanel";
import { PageHeader } from "../../components/PageHeader";
import { useText } from "../../i18n";
import { BulkBar } from "./BulkBar";
import { ColumnChooser } from "./ColumnChooser";
import type { ColumnKey } from "./columns";
import { JobsLoading, NoJobs, NoMatch } from "./EmptyJobs";
import { isFiltered } from "./filter";
import { Filters } from "./Filters";
import { JobsGrid } from "./JobsGrid";
import "./jobs.css";
import { shownColumns, useHiddenColumns } from "./shown_columns";
import { count, Summary } from "./Summary";
import type { View } from "./use_view";
import { useView } from "./use_view";

export default function JobsPage(): ReactNode {
  const { t } = useText();
  const view = useView();
  const [namespace] = useNamespace();
  const { error } = useConnection().status;
  useSpokenChanges(view);
  if (!view.complete) {
    return (
      <>
        <PageHeader title={t.jobs.title} />
        {error ? <ErrorPanel error={error} title={t.jobs.unreadable} /> : <JobsLoading />}
      </>
    );
  }
  if (view.all.length === 0) {
    return (
      <>
        <PageHeader title={t.jobs.title} />
        <NoJobs namespace={namespace} />
      </>
    );
  }
  return (
    <div className="jobs-page">
      <PageHeader title={t.jobs.title} />
      <Table view={view} />
    </div>
  );
}

function Table({ view }: { view: View }): ReactNode {
  const { all, rows, filter, sort, setFilter, clearFilter, setSort } = view;
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set());
  const onSelect = useCallback((row: JobRow, on: boolean) => {
    setSelection((before) => {
      const after = new Set(before);
      if (on) after.add(row.uid);
      else after.delete(row.uid);
      return after;
    });
  }, []);
  const onSelectAll = useCallback(
    (on: boolean) => setSelection(new Set(on ? rows.map((row) => row.uid) : [])),
    [rows],
  );
  const { hidden, setHidden } = useHiddenColumns();
  const columns = useSame(shownColumns(all, hidden));
  const onClear = useCallback(() => setSelection(new Set()), []);
  // Only what one sees is acted upon: a selected job that the filter hides is left alone.
  const selected = useMemo(
    () => (selection.size === 0 ? [] : rows.filter((row) => selection.has(row.uid))),
    [rows, selection],
  );
  return (
    <>
      <Summary all={all} filter={filter} setFilter={setFilter} />
      <Filters
        filter={filter}
        setFilter={setFilter}
        clearFilter={clearFilter}
        sort={sort}
        setSort={setSort}
      />
      <BulkBar
        shown={rows.length}
        all={all.length}
        selected={selected}
        onClear={onClear}
        extra={<ColumnChooser hidden={hidden} setHidden={setHidden} />}
      />
      {rows.length === 0 ? (
        <NoMatch onClear={clearFilter} />
      ) : (
        <JobsGrid
          rows={rows}
          columns={columns}
          sort={sort}
          onSort={setSort}
          selected={selection}
          onSelect={onSelect}
          onSelectAll={onSelectAll}
        />
      )}
    </>
  );
}

/** The same list as before while it has the same columns: rows need not render again. */
function useSame(columns: ColumnKey[]): readonly ColumnKey[] {
  const names = columns.join(" ");
  return useMemo(() => names.split(" ") as ColumnKey[], [names]);
}

// Health may change often when a node goes; a screen reader that talks without end helps nobody.
const SPOKEN_MS = 5_000;

/** Says to screen readers when more or fewer jobs need attention, and what a new filter leaves. */
function useSpokenChanges({ all, rows, filter, complete }: View): void {
  const { t } = useText();
  const announce = useAnnounce();
  const counts = useMemo(() => count(all), [all]);
  const attention = counts.critical + counts.warning;
  const known = useRef<number>(undefined);
  useEffect(() => {
    if (!complete) return undefined;
    if (known.current === undefined) known.current = attention;
    if (known.current === attention) return undefined;
    const timer = setTimeout(() => {
      known.current = attention;
      announce(t.jobs.attentionNow(attention));
    }, SPOKEN_MS);
    return () => clearTimeout(timer);
  }, [complete, attention, announce, t]);
  const shown = useRef(rows.length);
  useEffect(() => {
    shown.current = rows.length;
  }, [rows]);
  const before = useRef(filter);
  useEffect(() => {
    if (before.current === filter) return;
    before.current = filter;
    if (isFiltered(filter)) announce(t.common.jobs(shown.current));
  }, [filter, announce, t]);
}
