// Conditions, events and restarts by time, newest first; also of a job that is gone.

import { Button, Select } from "antd";
import type { ReactNode } from "react";
import { Fragment, useMemo, useState } from "react";
import { useText } from "../../../i18n";
import type { AttemptMark, Entry, EntryKind, TimelineFilter } from "./entries";
import { dayHeadings, ENTRY_KINDS, matching, subjectsOf, withAttempts } from "./entries";
import { EntryView } from "./EntryView";
import "./timeline.css";
import { useDay } from "./use_day";

// What one reads without asking for more; a job with a bad day has thousands of events.
const SHOWN_FIRST = 60;

interface Props {
  entries: readonly Entry[];
  /** Of the job now; undefined: unknown, and then no attempts are marked. */
  attempt?: number;
  /** What stands at the top of the page. */
  headline?: string;
  /** What a click on a replica's name does; undefined for one: nothing. */
  onReplica?: (name: string) => (() => void) | undefined;
}

export function Timeline({ entries, attempt, headline, onReplica }: Props): ReactNode {
  const { t } = useText();
  const [filter, setFilter] = useState<TimelineFilter>({ kinds: [], about: "" });
  const [room, setRoom] = useState(SHOWN_FIRST);
  const rows = useMemo(() => {
    const marked = attempt === undefined ? [...entries] : withAttempts(entries, attempt);
    const kept = new Set<Entry | AttemptMark>(matching(entries, filter));
    return marked.filter((row) => "attempt" in row || kept.has(row));
  }, [entries, filter, attempt]);
  if (entries.length === 0) return <p className="muted">{t.job.timelineEmpty}</p>;
  const nothing = rows.every((row) => "attempt" in row);
  return (
    <>
      <Filters entries={entries} filter={filter} onFilter={setFilter} />
      {nothing ? (
        <p className="muted">{t.job.timelineNone}</p>
      ) : (
        <Rows rows={rows.slice(0, room)} headline={headline} onReplica={onReplica} />
      )}
      {rows.length > room && (
        <Button size="small" onClick={() => setRoom(room * 4)}>
          {t.job.more(rows.length - room)}
        </Button>
      )}
    </>
  );
}

interface RowsProps {
  rows: readonly (Entry | AttemptMark)[];
  headline: Props["headline"];
  onReplica: Props["onReplica"];
}

function Rows({ rows, headline, onReplica }: RowsProps): ReactNode {
  const { t } = useText();
  const dayOf = useDay();
  const headings = dayHeadings(rows, dayOf);
  return (
    <ol className="job-timeline" aria-label={t.job.timeline}>
      {rows.map((row, place) =>
        "attempt" in row ? (
          <li key={row.key} className="job-attempt">
            <span>{t.job.attemptBegins(row.attempt)}</span>
          </li>
        ) : (
          <Fragment key={row.key}>
            {headings[place] !== undefined && (
              <li className="job-day">
                <span>{headings[place]}</span>
              </li>
            )}
            <EntryView entry={row} headline={headline} onAbout={onReplica?.(row.about)} />
          </Fragment>
        ),
      )}
    </ol>
  );
}

interface FiltersProps {
  entries: readonly Entry[];
  filter: TimelineFilter;
  onFilter: (filter: TimelineFilter) => void;
}

function Filters({ entries, filter, onFilter }: FiltersProps): ReactNode {
  const { t, format } = useText();
  const counts = useMemo(() => {
    const all = new Map<EntryKind, number>();
    for (const { kind } of entries) all.set(kind, (all.get(kind) ?? 0) + 1);
    return all;
  }, [entries]);
  const subjects = useMemo(
    () => [
      { value: "", label: t.job.aboutAll },
      ...subjectsOf(entries).map((about) => ({
        value: about,
        label: about === "job" ? t.job.aboutJob : about,
      })),
    ],
    [entries, t],
  );
  const toggle = (kind: EntryKind): void => {
    const on = filter.kinds.includes(kind);
    const kinds = on ? filter.kinds.filter((one) => one !== kind) : [...filter.kinds, kind];
    onFilter({ ...filter, kinds });
  };
  return (
    <div className="job-timeline-filters">
      <div role="group" aria-label={t.job.filterKinds} className="job-legend">
        {ENTRY_KINDS.filter((kind) => counts.has(kind)).map((kind) => (
          <button
            key={kind}
            type="button"
            className="job-legend-entry"
            aria-pressed={filter.kinds.includes(kind)}
            onClick={() => toggle(kind)}
          >
            {t.job.kinds[kind]} <b className="numeric">{format.number(counts.get(kind) ?? 0)}</b>
          </button>
        ))}
      </div>
      {subjects.length > 2 && (
        <Select
          size="small"
          aria-label={t.job.filterAbout}
          value={filter.about}
          options={subjects}
          showSearch
          onChange={(about) => onFilter({ ...filter, about })}
          popupMatchSelectWidth={false}
        />
      )}
    </div>
  );
}
