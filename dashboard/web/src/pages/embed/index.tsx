// A single chart in the frame of another page: no shell, and nothing that leads out of the frame.

import type { ReactNode } from "react";
import { lazy, useCallback, useEffect, useMemo } from "react";
import { useParams, useSearchParams } from "react-router";
import type { JobRef } from "../../api/paths";
import { jobKey, kindOfPlural } from "../../api/paths";
import { asApiError } from "../../api/problem";
import { useLiveJob } from "../../api/use_stream";
import { usePreferences } from "../../app/Menus";
import { NotFound } from "../../app/NotFound";
import { PageLoading } from "../../app/Shell";
import { ErrorPanel } from "../../components/ErrorPanel";
import { useText, wordFor } from "../../i18n";
import { CurveChart } from "../training/CurveChart";
import { chartsOf, newRun } from "../training/curves";
import type { Span } from "../training/scale";
import "../training/training.css";
import { isOver, useCompared, useSeries } from "../training/use_runs";
import { useSettings } from "../training/use_settings";
import "./embed.css";
import { EmbedLogin } from "./EmbedLogin";
import { EmbedTitle } from "./EmbedTitle";
import { PageLink } from "./PageLink";
import { themeOf } from "./theme_of";

const HISTOGRAM = "histogram";
const OneHistogram = lazy(() => import("./OneHistogram"));

export default function EmbedPage(): ReactNode {
  const { namespace = "", plural, name = "", chart = "" } = useParams();
  const { t } = useText();
  const kind = kindOfPlural(plural);
  const [search] = useSearchParams();
  useFrameTheme();
  if (!kind) return <NotFound />;
  const job = { kind, namespace, name };
  const tag = search.get("tag");
  // Without ?tag= it may be a curve of that name.
  if (chart === HISTOGRAM && tag !== null) {
    return (
      <>
        <EmbedTitle title={t.embed.title(tag, name)} />
        <OneHistogram key={`${jobKey(job)} ${tag}`} job={job} tag={tag} />
      </>
    );
  }
  return (
    <>
      <EmbedTitle title={t.embed.title(wordFor(t.training.tags, chart), name)} />
      <OneChart key={jobKey(job)} job={job} tag={chart} />
    </>
  );
}

/** For this frame only: it is not stored, so that the person's own choice stays. */
function useFrameTheme(): void {
  const preferences = usePreferences();
  const [search] = useSearchParams();
  const theme = themeOf(search);
  useEffect(() => {
    if (theme) preferences.set({ ...preferences.get(), theme });
  }, [preferences, theme]);
}

function OneChart({ job, tag }: { job: JobRef; tag: string }): ReactNode {
  const { t } = useText();
  const over = isOver(useLiveJob(job));
  const { answer, error, refetch } = useSeries(job, over);
  const { settings, change } = useSettings();
  const compared = useCompared(settings.compared, job.namespace);
  const name = wordFor(t.training.tags, tag);
  const key = jobKey(job);
  const own = useMemo(() => newRun(key, job.name, answer), [key, job.name, answer]);
  const chart = useMemo(() => {
    const runs = [own, ...compared.map(({ run }) => run)];
    return chartsOf(runs, (one) => one === tag)[0];
  }, [own, compared, tag]);
  const onZoom = useCallback((zoom: Span | undefined) => change({ zoom }), [change]);
  if (error && asApiError(error).reason === "Unauthenticated") return <EmbedLogin />;
  if (error && !answer) return <ErrorPanel error={error} onRetry={refetch} />;
  if (!answer) return <PageLoading />;
  if (!chart) {
    return (
      <p className="embed-say">
        <bdi>{t.embed.none(name)}</bdi> <bdi>{answer.message}</bdi> <PageLink job={job} />
      </p>
    );
  }
  return (
    <div className="embed-page">
      <CurveChart
        chart={chart}
        settings={settings}
        group="embed"
        onZoom={onZoom}
        fill
        extra=<PageLink job={job} />
      />
    </div>
  );
}
