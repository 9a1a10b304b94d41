// Text, health, state, kind, owner and label, all kept in the URL; and the order, where there is no
// table's head to click.

import { FilterOutlined } from "@ant-design/icons";
import { Badge, Button, Select } from "antd";
import type { ReactNode } from "react";
import { memo, useState } from "react";
import type { JobRow } from "../../api/types";
import { useServices } from "../../api/services";
import { useNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { Glyph } from "../../components/Glyph";
import { SearchBox } from "../../components/SearchBox";
import { useText } from "../../i18n";
import { COLUMNS, isSortable } from "./columns";
import type { Filter, Sort } from "./filter";
import { HEALTHS, isFiltered, STATES } from "./filter";

interface Props {
  filter: Filter;
  setFilter: (change: Partial<Filter>) => void;
  clearFilter: () => void;
  sort: Sort;
  setSort: (sort: Sort) => void;
}

/** Memoised: rows change five times a second, and lists of Ant Design are slow to render. */
export const Filters = memo(function Filters(props: Props): ReactNode {
  const { filter, setFilter, clearFilter, sort, setSort } = props;
  const { t } = useText();
  // On a phone the lists are behind a button.
  const [open, setOpen] = useState(false);
  const { health, state, kind, owner, label } = filter;
  const lists = [health, state, kind, owner, label].filter((list) => list.length > 0).length;
  return (
    <div role="search" className={open ? "jobs-filters jobs-filters-open" : "jobs-filters"}>
      <SearchBox
        className="jobs-filter-text"
        label={t.jobs.search}
        text={filter.text}
        onText={(text) => setFilter({ text })}
      />
      <Badge count={lists} size="small" className="jobs-filters-toggle">
        <Button
          icon={<FilterOutlined />}
          aria-expanded={open}
          aria-label={t.jobs.filters}
          onClick={() => setOpen(!open)}
        />
      </Badge>
      <Lists filter={filter} setFilter={setFilter} />
      <SortSelect sort={sort} setSort={setSort} />
      {isFiltered(filter) && (
        <Button type="link" size="small" onClick={clearFilter}>
          {t.jobs.clearFilter}
        </Button>
      )}
    </div>
  );
});

interface ListsProps {
  filter: Filter;
  setFilter: (change: Partial<Filter>) => void;
}

function Lists({ filter, setFilter }: ListsProps): ReactNode {
  const { t } = useText();
  const { jobs } = useServices().live;
  const [namespace] = useNamespace();
  // Read when a list opens, not watched: it must not change under the pointer.
  const here = (): JobRow[] =>
    jobs.get().rows.filter((row) => namespace === "" || row.namespace === namespace);
  const { kinds } = useSession();
  const names = t.jobs.columns;
  return (
    <>
      <List
        name={names.health}
        value={filter.health}
        options={() => HEALTHS.map((one) => ({ value: one, label: t.common.health[one] }))}
        onChange={(health) => setFilter({ health })}
      />
      <List
        name={names.state}
        value={filter.state}
        options={() => STATES.map((one) => ({ value: one, label: t.common.state[one] }))}
        onChange={(state) => setFilter({ state })}
      />
      {kinds.length > 1 && (
        <List
          name={names.kind}
          value={filter.kind}
          options={() => kinds.map((one) => ({ value: one, label: one }))}
          onChange={(kind) => setFilter({ kind })}
        />
      )}
      <List
        name={names.owner}
        value={filter.owner}
        options={() => asOptions(here().flatMap((row) => row.owner ?? []))}
        onChange={(owner) => setFilter({ owner })}
      />
      <List
        name={t.jobs.label}
        value={filter.label}
        options={() => asOptions(here().flatMap(labelsOf))}
        onChange={(label) => setFilter({ label })}
      />
    </>
  );
}

function labelsOf(row: JobRow): string[] {
  return Object.entries(row.labels ?? {}).map(([key, value]) => `${key}=${value}`);
}

function asOptions(values: string[]): { value: string; label: string }[] {
  return [...new Set(values)].sort().map((value) => ({ value, label: value }));
}

interface ListProps<T extends string> {
  name: string;
  value: T[];
  options: () => { value: T; label: string }[];
  onChange: (value: T[]) => void;
}

function List<T extends string>({ name, value, options, onChange }: ListProps<T>): ReactNode {
  const { t } = useText();
  const [open, setOpen] = useState(false);
  const needed = open || value.length > 0;
  // Only an open list needs the owners and labels of all rows; a chosen value shows as its word.
  const [shown, setShown] = useState(() => (needed ? options() : []));
  const [was, setWas] = useState(needed);
  if (was !== needed) {
    setWas(needed);
    setShown(needed ? options() : []);
  }
  return (
    <Select<T[]>
      className="jobs-filter-list"
      mode="multiple"
      placeholder={name}
      aria-label={name}
      value={value}
      options={shown}
      onChange={onChange}
      onOpenChange={setOpen}
      maxTagCount={value.length > 1 ? 0 : 1}
      maxTagPlaceholder={`${name}: ${value.length}`}
      popupMatchSelectWidth={false}
      notFoundContent={t.common.none}
    />
  );
}

function SortSelect({ sort, setSort }: { sort: Sort; setSort: (sort: Sort) => void }): ReactNode {
  const { t } = useText();
  const options = COLUMNS.filter(isSortable).map((column) => ({
    value: column,
    label: t.jobs.sortBy(t.jobs.columns[column]),
  }));
  const { column, descending } = sort;
  return (
    <span className="jobs-filter-sort">
      <Select
        aria-label={t.jobs.sort}
        value={column}
        options={options}
        onChange={(next) => setSort({ column: next, descending: false })}
        popupMatchSelectWidth={false}
      />
      <Button
        icon={<Glyph name={descending ? "down" : "up"} />}
        aria-label={t.jobs.reverse}
        title={t.jobs.reverse}
        onClick={() => setSort({ column, descending: !descending })}
      />
    </span>
  );
}
