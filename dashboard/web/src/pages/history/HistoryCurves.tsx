// The curves of a job that is gone, drawn and in numbers: of each its last value, its least and its
// most.

import type { ReactNode } from "react";
import { useCallback, useMemo, useState } from "react";
import type { SeriesAnswer } from "../../api/types";
import { useText } from "../../i18n";
import { ChartGrid } from "../training/ChartGrid";
import { chartsOf, newRun } from "../training/curves";
import type { Settings } from "../training/settings";
import { PLAIN } from "../training/settings";
import type { CurveSummary } from "./curve_summary";
import { summaryOf } from "./curve_summary";

export function HistoryCurves({ series }: { series: SeriesAnswer }): ReactNode {
  const { t } = useText();
  const words = t.history;
  const rows = summaryOf(series);
  if (rows.length === 0) {
    return (
      <p className="muted">
        {words.noCurves} {series.message !== undefined && <bdi>{series.message}</bdi>}
      </p>
    );
  }
  return (
    <>
      <Charts series={series} />
      <Numbers rows={rows} />
    </>
  );
}

function Charts({ series }: { series: SeriesAnswer }): ReactNode {
  const { t } = useText();
  const [settings, setSettings] = useState<Settings>(PLAIN);
  const change = useCallback(
    (more: Partial<Settings>) => setSettings((before) => ({ ...before, ...more })),
    [],
  );
  const charts = useMemo(
    () => chartsOf([newRun("recorded", t.training.recorded, series)], () => true),
    [series, t],
  );
  return <ChartGrid charts={charts} settings={settings} change={change} />;
}

function Numbers({ rows }: { rows: CurveSummary[] }): ReactNode {
  const { t, format } = useText();
  const words = t.history;
  return (
    // Scrolls by the keyboard, too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="history-scroll" role="region" aria-label={t.training.inNumbers} tabIndex={0}>
      <table className="job-small-table">
        <thead>
          <tr>
            <th scope="col">{words.curve}</th>
            <th scope="col">{words.lastStep}</th>
            <th scope="col">{words.lastValue}</th>
            <th scope="col">{words.least}</th>
            <th scope="col">{words.most}</th>
            <th scope="col">{words.points}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, ofTest, points, step, last, least, most }) => (
            <tr key={key}>
              <th scope="row">
                <bdi>{name}</bdi> {ofTest && <span className="muted">{words.ofTest}</span>}
              </th>
              <td className="numeric">{format.number(step)}</td>
              <td className="numeric">{format.short(last)}</td>
              <td className="numeric">{format.short(least)}</td>
              <td className="numeric">{format.short(most)}</td>
              <td className="numeric">{format.number(points)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
