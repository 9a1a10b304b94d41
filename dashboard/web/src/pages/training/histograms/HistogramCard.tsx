// One tag: its histograms in the mode that is chosen, a slider over steps, the histogram of that
// step as bars, and the same as a table and as a file.

import { Skeleton } from "antd";
import type { ReactNode } from "react";
import { Fragment, useMemo, useState } from "react";
import type { Distribution, Histogram } from "../../../api/events";
import type { JobRef } from "../../../api/paths";
import type { HistogramTag } from "../../../api/types";
import { ErrorPanel } from "../../../components/ErrorPanel";
import { useText } from "../../../i18n";
import { ChartActions } from "../ChartActions";
import type { SettingsControl } from "../use_settings";
import { BandChart } from "./BandChart";
import { BarsChart } from "./BarsChart";
import { BandsTable, BinsTable } from "./HistogramTable";
import { distributionsCsv, histogramsCsv } from "./histogram_csv";
import "./histograms.css";
import { RidgeChart } from "./RidgeChart";
import type { Shown } from "./shown";
import { indexOfStep, shownOf, withoutHollow } from "./shown";
import { StepSlider } from "./StepSlider";
import type { Read } from "./use_events";
import { useDistributions, useHistograms } from "./use_events";
import { useInView } from "./use_in_view";

interface Props extends SettingsControl {
  job: JobRef;
  tag: HistogramTag;
  /** Zero of relative time; undefined: the first histogram. */
  start: number | undefined;
  /** It fills its frame. */
  fill?: boolean;
  /** In the head, at its end. */
  extra?: ReactNode;
}

const NONE: never[] = [];

export function HistogramCard(props: Props): ReactNode {
  const { job, tag, settings, start, fill = false, extra } = props;
  const { t } = useText();
  const [ref, inView] = useInView();
  const [table, setTable] = useState(false);
  const { axis, zoom } = settings;
  const isBands = settings.histograms.mode === "bands";
  const histograms = useHistograms({ job, tag, watch: inView }, axis === "step" ? zoom : undefined);
  const distributions = useDistributions({ job, tag, watch: inView && isBands });
  const all = histograms.data?.histograms ?? NONE;
  const spread = useMemo(
    () => withoutHollow(distributions.data ?? NONE, all),
    [distributions.data, all],
  );
  const shown = useMemo(() => shownOf(all, { axis, zoom, start }), [all, axis, zoom, start]);
  const bands = useMemo(() => shownOf(spread, { axis, zoom, start }), [spread, axis, zoom, start]);
  const name = tag.displayName || tag.tag;
  const csv = (): string => (isBands ? distributionsCsv(tag, spread) : histogramsCsv(tag, all));
  const ready = histograms.data && (!isBands || distributions.data);
  const failed = [histograms, isBands ? distributions : undefined].find((one) => one?.error);
  return (
    <section
      ref={ref}
      className={fill ? "histogram-card histogram-fill" : "histogram-card"}
      aria-label={name}
    >
      <div className="curve-head">
        <h4 title={tag.description}>
          <bdi>{afterSlashes(name)}</bdi>
        </h4>
        <ChartActions
          {...{ name, table, extra }}
          tag={tag.tag}
          onTable={setTable}
          csv={ready ? csv : undefined}
        />
      </div>
      <CardTrouble failed={failed} stale={Boolean(ready)} />
      {ready ? (
        <Pictures
          {...{ ...props, name, inView, shown, bands, table }}
          inRange={histograms.data?.inRange ?? 0}
        />
      ) : (
        !failed && (
          <div className="histogram-waits" role="status" aria-label={t.common.loading}>
            {inView && <Skeleton active title={false} paragraph={{ rows: 6, width: "100%" }} />}
          </div>
        )
      )}
    </section>
  );
}

/** A line may end behind each part of the name, rather than within a word. */
function afterSlashes(name: string): ReactNode {
  return name.split(/(?<=\/)/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

interface TroubleProps {
  failed: Read<unknown> | undefined;
  /** Older data show. */
  stale: boolean;
}

function CardTrouble({ failed, stale }: TroubleProps): ReactNode {
  const { t, format } = useText();
  if (!failed) return null;
  if (!stale) {
    return (
      <ErrorPanel
        error={failed.error}
        title={t.training.hist.unreadable}
        onRetry={failed.refetch}
      />
    );
  }
  return (
    <p className="histogram-odd" role="status">
      {t.training.hist.stale(format.time(failed.at))} <bdi>{failed.error?.message}</bdi>
    </p>
  );
}

interface PicturesProps extends Props {
  name: string;
  inView: boolean;
  shown: Shown<Histogram>;
  bands: Shown<Distribution>;
  table: boolean;
  inRange: number;
}

function Pictures(props: PicturesProps): ReactNode {
  const { name, inView, shown, bands, table, inRange, settings, change } = props;
  const { t, format } = useText();
  const words = t.training.hist;
  const { axis, histograms: look } = settings;
  const { mode, height, log } = look;
  const setStep = (step: number | undefined): void => change({ histograms: { ...look, step } });
  const at = indexOfStep(shown.all, look.step);
  const chosen = shown.all[at];
  const first = shown.all[0];
  const last = shown.all.at(-1);
  if (!chosen || !first || !last) return <p className="muted">{words.zoomed}</p>;
  const text = words.chartText(
    shown.all.length,
    format.number(first.step),
    format.number(last.step),
  );
  const chart = { name, axis, inView, label: words.chartOf(words.modes[mode], name, text) };
  return (
    <>
      {mode === "bands" ? (
        <BandChart
          {...chart}
          shown={bands}
          chosen={bands.all.findIndex(({ step }) => step === chosen.step)}
          onChoose={(index) => setStep(bands.all[index]?.step)}
        />
      ) : (
        <RidgeChart
          {...chart}
          shown={shown}
          look={{ stacked: mode === "offset", height, log }}
          chosen={at}
          onChoose={(index) => setStep(shown.all[index]?.step)}
        />
      )}
      <StepSlider name={name} all={shown.all} at={at} onStep={setStep} />
      <BarsChart {...{ name, height, log, inView }} histogram={chosen} />
      {inRange > shown.all.length && (
        <p className="muted histogram-small">{words.shownOf(shown.all.length, inRange)}</p>
      )}
      {table && mode === "bands" && <BandsTable name={name} distributions={bands.all} />}
      {table && mode !== "bands" && <BinsTable name={name} histogram={chosen} />}
    </>
  );
}
