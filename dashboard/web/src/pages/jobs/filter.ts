// Which jobs the table shows: read from and written to the URL, so that a link shows the same.
//
//   ?q=bert&health=critical,warning&state=Running&kind=TFJob&owner=ada&label=team=nlp&sort=-age

import type { Health, JobKind, JobRow, JobState } from "../../api/types";
import type { ColumnKey } from "./columns";
import { isSortable } from "./columns";
import { attention } from "./listed";

export interface Filter {
  text: string;
  health: Health[];
  state: JobState[];
  kind: JobKind[];
  owner: string[];
  /** "key=value", or "key" for any value. */
  label: string[];
}

export interface Sort {
  column: ColumnKey;
  descending: boolean;
}

export const NO_FILTER: Filter = {
  text: "",
  health: [],
  state: [],
  kind: [],
  owner: [],
  label: [],
};
/** What needs attention comes first. */
export const DEFAULT_SORT: Sort = { column: "health", descending: false };

export const HEALTHS: readonly Health[] = ["critical", "warning", "ok"];
export const STATES: readonly JobState[] = [
  "Running",
  "Restarting",
  "Pending",
  "Suspended",
  "Succeeded",
  "Failed",
];
const KINDS: readonly JobKind[] = ["TrainingJob", "TFJob"];

function words<T extends string>(search: URLSearchParams, name: string, of: readonly T[]): T[] {
  const asked = (search.get(name) ?? "").split(",");
  return of.filter((one) => asked.includes(one));
}

/** What is no word of ours is left out: a URL is somebody's input. */
export function readFilter(search: URLSearchParams): Filter {
  return {
    text: search.get("q") ?? "",
    health: words(search, "health", HEALTHS),
    state: words(search, "state", STATES),
    kind: words(search, "kind", KINDS),
    // Names may hold commas: one parameter each.
    owner: search.getAll("owner").filter((owner) => owner !== ""),
    label: search.getAll("label").filter((label) => label !== ""),
  };
}

export function writeFilter(filter: Filter, before: URLSearchParams): URLSearchParams {
  const search = new URLSearchParams(before);
  for (const name of ["q", "health", "state", "kind", "owner", "label"]) search.delete(name);
  if (filter.text !== "") search.set("q", filter.text);
  if (filter.health.length > 0) search.set("health", filter.health.join(","));
  if (filter.state.length > 0) search.set("state", filter.state.join(","));
  if (filter.kind.length > 0) search.set("kind", filter.kind.join(","));
  for (const owner of filter.owner) search.append("owner", owner);
  for (const label of filter.label) search.append("label", label);
  return search;
}

export function readSort(search: URLSearchParams): Sort {
  const asked = search.get("sort") ?? "";
  const descending = asked.startsWith("-");
  const column = descending ? asked.slice(1) : asked;
  return isSortable(column) ? { column, descending } : DEFAULT_SORT;
}

export function writeSort(sort: Sort, before: URLSearchParams): URLSearchParams {
  const search = new URLSearchParams(before);
  const isDefault = sort.column === DEFAULT_SORT.column && !sort.descending;
  if (isDefault) search.delete("sort");
  else search.set("sort", `${sort.descending ? "-" : ""}${sort.column}`);
  return search;
}

export function isFiltered(filter: Filter): boolean {
  const { text, health, state, kind, owner, label } = filter;
  return text.trim() !== "" || [health, state, kind, owner, label].some((list) => list.length > 0);
}

// Rows keep their identity while they do not change, so what is computed from one is kept with it.
const haystacks = new WeakMap<JobRow, string>();

function haystack(row: JobRow): string {
  let text = haystacks.get(row);
  if (text === undefined) {
    const parts = [`${row.namespace}/${row.name}`, row.message, row.owner, row.queue];
    text = parts.join("\n").toLowerCase();
    haystacks.set(row, text);
  }
  return text;
}

function hasLabel(row: JobRow, wanted: string): boolean {
  const labels = row.labels ?? {};
  const equals = wanted.indexOf("=");
  if (equals < 0) return Object.hasOwn(labels, wanted);
  const key = wanted.slice(0, equals);
  return Object.hasOwn(labels, key) && labels[key] === wanted.slice(equals + 1);
}

/** All words of the text must occur; of each list one, but of labels all. */
export function matcher(filter: Filter): (row: JobRow) => boolean {
  const terms = filter.text.toLowerCase().split(/\s+/).filter((term) => term !== "");
  const { health, state, kind, owner, label } = filter;
  const within = <T>(list: readonly T[], value: T): boolean =>
    list.length === 0 || list.includes(value);
  return (row) =>
    within(health, attention(row)) &&
    within(state, row.state) &&
    within(kind, row.kind) &&
    within(owner, row.owner ?? "") &&
    label.every((wanted) => hasLabel(row, wanted)) &&
    (terms.length === 0 || terms.every((term) => haystack(row).includes(term)));
}
