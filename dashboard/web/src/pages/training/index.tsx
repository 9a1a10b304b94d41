// The curves of a job's training while they grow, beside those of other jobs.

import { ExportOutlined } from "@ant-design/icons";
import type { ReactNode } from "react";
import { lazy, Suspense, useCallback, useMemo } from "react";
import { Link, useParams, useSearchParams } from "react-router";
import type { JobRef } from "../../api/paths";
import { jobKey, kindOfPlural } from "../../api/paths";
import type { HistogramTag } from "../../api/types";
import { useLiveJob } from "../../api/use_stream";
import { NotFound } from "../../app/NotFound";
import { ErrorPanel } from "../../components/ErrorPanel";
import { LoadingRows } from "../../components/LoadingRows";
import { useText, wordFor } from "../../i18n";
import { JobHead } from "../job/JobHead";
import { ChartGrid } from "./ChartGrid";
import { ComparePicker } from "./ComparePicker";
import type { Run } from "./curves";
import { chartsOf, newRun, startOf, tagFilter } from "./curves";
import { Differences } from "./Differences";
import { ComparedNotes, NoCurves, SeriesNote } from "./Notes";
import { NumbersTable } from "./NumbersTable";
import { Toolbar } from "./Toolbar";
import "./training.css";
import type { ComparedRun } from "./use_runs";
import { isOver, useCompared, useSeries } from "./use_runs";
import type { SettingsControl } from "./use_settings";
import { useSettings } from "./use_settings";

const Histograms = lazy(() => import("./histograms"));

export default function TrainingPage(): ReactNode {
  const { namespace = "", plural, name = "" } = useParams();
  const kind = kindOfPlural(plural);
  if (!kind) return <NotFound />;
  const job = { kind, namespace, name };
  return <Training key={jobKey(job)} job={job} />;
}

function Training({ job }: { job: JobRef }): ReactNode {
  const { t } = useText();
  const live = useLiveJob(job);
  const over = isOver(live);
  // One that is suspended makes no points either, until it is resumed.
  const { answer, error, refetch } = useSeries(job, over || live?.state === "Suspended");
  const control = useSettings();
  const compared = useCompared(control.settings.compared, job.namespace);
  const key = jobKey(job);
  const own = useMemo(() => newRun(key, job.name, answer), [key, job.name, answer]);
  const runs = useMemo(() => [own, ...compared.map(({ run }) => run)], [own, compared]);
  const embedHistogram = useCallback(
    ({ run, tag }: HistogramTag) => (
      <EmbedLink job={job} chart="histogram" name={tag} more={{ run, tag }} />
    ),
    [job],
  );
  return (
    <div className="training-page">
      <JobHead job={job} live={live} title={t.training.titleOf(job.name)} current="training" />
      {answer && <SeriesNote job={job} answer={answer} gone={live === null} over={over} />}
      {error && !answer && (
        <ErrorPanel error={error} title={t.training.unreadable} onRetry={refetch} />
      )}
      {!error && !answer && (
        <LoadingRows />
      )}
      {answer && <Curves {...{ job, over, runs, compared, control }} />}
      <Suspense fallback={null}>
        <Histograms
          job={job}
          over={over}
          start={startOf(own) || undefined}
          {...control}
          extra={embedHistogram}
        />
      </Suspense>
    </div>
  );
}

interface CurvesProps {
  job: JobRef;
  over: boolean;
  runs: Run[];
  compared: ComparedRun[];
  control: SettingsControl;
}

function Curves({ job, over, runs, compared, control }: CurvesProps): ReactNode {
  const { t } = useText();
  const { settings, change } = control;
  const all = useMemo(() => chartsOf(runs, () => true), [runs]);
  const charts = useMemo(() => {
    const wanted = tagFilter(settings.tags);
    // A person looks for the name that is on the chart as well.
    return all.filter(
      ({ tag }) => !wanted || wanted(tag) || wanted(wordFor(t.training.tags, tag)),
    );
  }, [all, settings.tags, t]);
  return (
    <div className="training-curves">
      <ComparePicker
        job={job}
        compared={compared}
        onChange={(keys) => change({ compared: keys })}
      />
      <ComparedNotes compared={compared} />
      {all.length === 0 && <NoCurves kind={job.kind} over={over} />}
      {all.length > 0 && <Toolbar {...control} />}
      {all.length > 0 && charts.length === 0 && <p className="muted">{t.training.noMatch}</p>}
      <ChartGrid
        charts={charts}
        {...control}
        extra={(tag) => <EmbedLink job={job} chart={tag} name={wordFor(t.training.tags, tag)} />}
      />
      {charts.length > 0 && <NumbersTable charts={charts} />}
      <Differences job={job} runs={runs} />
    </div>
  );
}

interface EmbedProps {
  job: JobRef;
  chart: string;
  name: string;
  /** For the address. */
  more?: Record<string, string>;
}

/** The chart alone, for a frame of another page. */
function EmbedLink({ job, chart, name, more = {} }: EmbedProps): ReactNode {
  const { t } = useText();
  const [search] = useSearchParams();
  const query = new URLSearchParams(search);
  for (const [key, value] of Object.entries(more)) query.set(key, value);
  return (
    <Link
      className="curve-embed"
      to={{ pathname: `/embed/${jobKey(job)}/${encodeURIComponent(chart)}`, search: `?${query}` }}
      target="_blank"
      rel="noopener"
      title={t.training.embed}
      aria-label={t.training.embedOf(name)}
    >
      <ExportOutlined aria-hidden />
    </Link>
  );
}
