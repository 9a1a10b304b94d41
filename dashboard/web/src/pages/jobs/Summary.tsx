// The strip above the table: what needs attention, what runs, what waits, which GPUs are held. Each
// number is a filter as well.

import type { ReactNode } from "react";
import { useMemo } from "react";
import { Glyph } from "../../components/Glyph";
import { useText } from "../../i18n";
import type { Filter } from "./filter";
import { NO_FILTER } from "./filter";
import type { ListedRow } from "./listed";
import { attention } from "./listed";

export interface Counts {
  critical: number;
  warning: number;
  running: number;
  pending: number;
  gpus: number;
}

export function count(rows: readonly ListedRow[]): Counts {
  const counts = { critical: 0, warning: 0, running: 0, pending: 0, gpus: 0 };
  for (const row of rows) {
    if (attention(row) === "critical") counts.critical += 1;
    if (attention(row) === "warning") counts.warning += 1;
    if (row.state === "Running") counts.running += 1;
    if (row.state === "Pending") counts.pending += 1;
    counts.gpus += row.gpus;
  }
  return counts;
}

const ATTENTION: Partial<Filter> = { health: ["critical", "warning"] };
const RUNNING: Partial<Filter> = { state: ["Running"] };
const PENDING: Partial<Filter> = { state: ["Pending"] };

/** Whether the filter is this one and nothing else. */
function isOn(filter: Filter, one: Partial<Filter>): boolean {
  return JSON.stringify(filter) === JSON.stringify({ ...NO_FILTER, ...one });
}

interface Props {
  all: readonly ListedRow[];
  filter: Filter;
  setFilter: (change: Partial<Filter>) => void;
}

export function Summary({ all, filter, setFilter }: Props): ReactNode {
  const { t, format } = useText();
  const counts = useMemo(() => count(all), [all]);
  const needed = counts.critical + counts.warning;
  const choose = (one: Partial<Filter>): void =>
    setFilter(isOn(filter, one) ? NO_FILTER : { ...NO_FILTER, ...one });
  const figure = (text: string, value: number, one: Partial<Filter>, extra?: ReactNode) => (
    <button
      type="button"
      className="jobs-figure"
      aria-pressed={isOn(filter, one)}
      onClick={() => choose(one)}
    >
      <span className="jobs-figure-value numeric">
        {format.number(value)}
        {extra}
      </span>
      <span className="jobs-figure-name">{text}</span>
    </button>
  );
  const split = needed > 0 && (
    <span className="jobs-figure-split">
      <span title={t.common.health.critical}>
        <Glyph name="critical" tone="critical" />
        {format.number(counts.critical)}
      </span>
      <span title={t.common.health.warning}>
        <Glyph name="warning" tone="warning" />
        {format.number(counts.warning)}
      </span>
    </span>
  );
  return (
    <section className="jobs-summary" aria-label={t.jobs.summary}>
      {figure(t.jobs.attention, needed, ATTENTION, split)}
      {figure(t.jobs.running, counts.running, RUNNING)}
      {figure(t.jobs.pending, counts.pending, PENDING)}
      <div className="jobs-figure">
        <span className="jobs-figure-value numeric">{format.number(counts.gpus)}</span>
        <span className="jobs-figure-name">{t.jobs.gpusHeld}</span>
      </div>
    </section>
  );
}
