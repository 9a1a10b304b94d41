// Rows of the stream → rows of the table: namespace, filter, order.

import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { useSeen } from "../../api/seen";
import { useLiveJobs } from "../../api/use_stream";
import { useNamespace } from "../../app/namespace";
import { comparator } from "./columns";
import type { Filter, Sort } from "./filter";
import { matcher, NO_FILTER, readFilter, readSort, writeFilter, writeSort } from "./filter";
import type { ListedRow } from "./listed";
import { listed } from "./listed";

export interface View {
  /** Of the namespace, whatever the filter says. */
  all: readonly ListedRow[];
  /** Filtered and in order. */
  rows: readonly ListedRow[];
  complete: boolean;
  filter: Filter;
  sort: Sort;
  setFilter: (change: Partial<Filter>) => void;
  clearFilter: () => void;
  setSort: (sort: Sort) => void;
}

export function useView(): View {
  const [search, setSearch] = useSearchParams();
  const { rows: everywhere, complete } = useLiveJobs();
  const [namespace] = useNamespace();
  const filter = useMemo(() => readFilter(search), [search]);
  const sort = useMemo(() => readSort(search), [search]);
  const isSeen = useSeen();
  const all = useMemo(() => {
    const here =
      namespace === "" ? everywhere : everywhere.filter((row) => row.namespace === namespace);
    return listed(here, isSeen);
  }, [everywhere, namespace, isSeen]);
  const rows = useMemo(
    () => all.filter(matcher(filter)).sort(comparator(sort.column, sort.descending)),
    [all, filter, sort],
  );
  const setFilter = useCallback(
    (change: Partial<Filter>) => {
      setSearch((before) => writeFilter({ ...readFilter(before), ...change }, before), {
        replace: true,
      });
    },
    [setSearch],
  );
  const clearFilter = useCallback(() => setFilter(NO_FILTER), [setFilter]);
  const setSort = useCallback(
    (next: Sort) => setSearch((before) => writeSort(next, before), { replace: true }),
    [setSearch],
  );
  return { all, rows, complete, filter, sort, setFilter, clearFilter, setSort };
}
