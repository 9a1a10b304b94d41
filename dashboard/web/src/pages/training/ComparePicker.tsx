// Chooses the jobs whose curves show beside those of the page's job.

import { useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import type { JobRef } from "../../api/paths";
import { jobKey } from "../../api/paths";
import { useJobList } from "../../api/queries";
import { useServices } from "../../api/services";
import type { HistoryList, JobRow } from "../../api/types";
import { useSession } from "../../app/session";
import { useText } from "../../i18n";
import type { ComparedRun } from "./use_runs";
import { COMPARED_MAX, historyKey } from "./settings";

interface Props {
  job: JobRef;
  compared: ComparedRun[];
  onChange: (keys: string[]) => void;
}

// Of the newest jobs that are gone; older ones are reached by a link from the history.
const PAST_MAX = 100;

export function ComparePicker({ job, compared, onChange }: Props): ReactNode {
  const { t } = useText();
  const words = t.training;
  const [open, setOpen] = useState(false);
  const groups = useGroups(job, open);
  const offered = new Set(groups.flatMap(({ options }) => options.map(({ value }) => value)));
  // What a link has chosen has a name also before the list was opened.
  const chosen = compared
    .filter(({ run }) => !offered.has(run.key))
    .map(({ run }) => ({ value: run.key, label: run.label }));
  return (
    <Select
      mode="multiple"
      className="training-compare"
      aria-label={words.compare}
      placeholder={words.compare}
      value={compared.map(({ run }) => run.key)}
      maxCount={COMPARED_MAX}
      options={chosen.length === 0 ? groups : [{ label: words.chosen, options: chosen }, ...groups]}
      showSearch={{ optionFilterProp: "label" }}
      allowClear
      open={open}
      onOpenChange={setOpen}
      onChange={onChange}
      optionRender={({ label }) => <bdi>{label}</bdi>}
    />
  );
}

interface Group {
  label: string;
  options: { value: string; label: string }[];
}

function useGroups(job: JobRef, open: boolean): Group[] {
  const { t, format } = useText();
  const words = t.training;
  const { api } = useServices();
  const { historyDays } = useSession();
  const here = useJobList(open);
  const past = useQuery({
    queryKey: ["history", "to compare"],
    enabled: open && historyDays > 0,
    queryFn: ({ signal }) =>
      api.get<HistoryList>("api/history", { query: { limit: PAST_MAX }, signal }),
  });
  const name = (row: JobRow): string => `${row.namespace}/${row.name}`;
  const jobs = (here.data?.jobs ?? [])
    .filter((row) => jobKey(row) !== jobKey(job))
    .sort(byNamespace(job.namespace))
    .map((row) => ({ value: jobKey(row), label: `${name(row)} · ${row.kind}` }));
  const gone = (past.data?.jobs ?? [])
    .filter((row) => row.deleted !== undefined)
    .map((row) => ({
      value: historyKey(row.uid),
      label: `${name(row)} · ${format.dateTime(row.deleted ?? "")}`,
    }));
  return [
    { label: words.jobsHere, options: jobs },
    { label: words.jobsGone, options: gone },
  ].filter(({ options }) => options.length > 0);
}

/** Those of the page's own namespace first. */
export function byNamespace(namespace: string): (a: JobRow, b: JobRow) => number {
  const place = (row: JobRow): number => (row.namespace === namespace ? 0 : 1);
  return (a, b) =>
    place(a) - place(b) ||
    a.namespace.localeCompare(b.namespace) ||
    a.name.localeCompare(b.name, undefined, { numeric: true });
}
