// The histograms of a single tag: ?run=&tag=&mode=, and what else the page's own link has.

import type { ReactNode } from "react";
import type { JobRef } from "../../api/paths";
import { asApiError } from "../../api/problem";
import { useLiveJob } from "../../api/use_stream";
import { PageLoading } from "../../app/Shell";
import { ErrorPanel } from "../../components/ErrorPanel";
import { useText } from "../../i18n";
import { HistogramCard } from "../training/histograms/HistogramCard";
import { runsOf } from "../training/histograms/groups";
import { useEvents } from "../training/histograms/use_events";
import "../training/training.css";
import { isOver } from "../training/use_runs";
import { useSettings } from "../training/use_settings";
import "./embed.css";
import { EmbedLogin } from "./EmbedLogin";
import { PageLink } from "./PageLink";

export default function OneHistogram({ job, tag }: { job: JobRef; tag: string }): ReactNode {
  const { t } = useText();
  const over = isOver(useLiveJob(job));
  const { data, error, refetch } = useEvents(job, over, true);
  const control = useSettings();
  if (error && asApiError(error).reason === "Unauthenticated") return <EmbedLogin />;
  if (error && !data) return <ErrorPanel error={error} onRetry={refetch} />;
  if (!data) return <PageLoading />;
  const of = data.tags.filter((one) => one.tag === tag);
  const run = control.settings.histograms.run || runsOf(of)[0];
  const found = of.find((one) => one.run === run);
  if (!found) {
    return (
      <p className="embed-say">
        <bdi>{t.training.hist.noTag(tag)}</bdi> <bdi>{data.state.message}</bdi>{" "}
        <PageLink job={job} />
      </p>
    );
  }
  return (
    <div className="embed-page">
      <HistogramCard
        {...control}
        job={job}
        tag={found}
        start={undefined}
        fill
        extra={<PageLink job={job} />}
      />
    </div>
  );
}
