// The histograms of a job's event files: a card for each tag, those of a layer together.

import { Button } from "antd";
import type { CSSProperties, ReactNode } from "react";
import { useMemo, useState } from "react";
import type { Events } from "../../../api/events";
import type { JobRef } from "../../../api/paths";
import type { HistogramTag } from "../../../api/types";
import { ErrorPanel } from "../../../components/ErrorPanel";
import { LoadingRows } from "../../../components/LoadingRows";
import { useText } from "../../../i18n";
import { tagFilter } from "../curves";
import type { SettingsControl } from "../use_settings";
import { groupsOf, runsOf } from "./groups";
import { HistogramCard } from "./HistogramCard";
import { EventsNotes, NoHistograms } from "./HistogramNotes";
import "./histograms.css";
import { HistogramToolbar } from "./HistogramToolbar";
import { useEvents } from "./use_events";
import { useInView } from "./use_in_view";

interface Props extends SettingsControl {
  job: JobRef;
  over: boolean;
  /** Zero of relative time; undefined: the first histogram. */
  start: number | undefined;
  /** Beside the buttons of each card. */
  extra?: (tag: HistogramTag) => ReactNode;
}

export default function Histograms(props: Props): ReactNode {
  const { job, over } = props;
  const { t, format } = useText();
  const words = t.training.hist;
  const [ref, inView] = useInView();
  const { data, error, at, refetch } = useEvents(job, over, inView);
  const empty = data?.tags.length === 0;
  return (
    <section ref={ref} className="training-histograms" aria-label={t.training.histograms}>
      <h2>{t.training.histograms}</h2>
      <p className="muted">{words.text}</p>
      {error && !data && (
        <ErrorPanel error={error} title={words.unreadable} onRetry={refetch} />
      )}
      {error && data && (
        <p className="histogram-odd" role="status">
          {words.stale(format.time(at))} <bdi>{error.message}</bdi>
        </p>
      )}
      {!data && !error && (
        <LoadingRows rows={4} />
      )}
      {data && <EventsNotes state={data.state} empty={empty} />}
      {data && empty && <NoHistograms kind={job.kind} message={data.state.message} over={over} />}
      {data && !empty && <Tags {...props} events={data} />}
    </section>
  );
}

// Cards out of view are cheap, not free.
const CARDS = 60;

function Tags(props: Props & { events: Events }): ReactNode {
  const { events, job, settings, change, start, extra } = props;
  const { t } = useText();
  const words = t.training.hist;
  const [most, setMost] = useState(CARDS);
  const { run: wantedRun, layers } = settings.histograms;
  const runs = useMemo(() => runsOf(events.tags), [events.tags]);
  const run = runs.includes(wantedRun) ? wantedRun : (runs[0] ?? "");
  const tags = useMemo(() => {
    const wanted = tagFilter(layers);
    return groupsOf(events.tags.filter((tag) => tag.run === run))
      .flatMap(({ layer, tags: members }) => members.map((tag) => ({ layer, tag })))
      .filter(({ tag }) => !wanted || wanted(tag.tag) || wanted(tag.displayName));
  }, [events.tags, run, layers]);
  const shown = tags.slice(0, most);
  const named = [...new Set(shown.map(({ layer }) => layer))];
  return (
    <>
      <HistogramToolbar {...{ runs, run, settings, change }} />
      {tags.length === 0 && <p className="muted">{words.noMatch}</p>}
      <div className="histogram-layers">
        {named.map((layer) => (
          <Layer key={layer} name={layer || words.otherTags}>
            {shown
              .filter((one) => one.layer === layer)
              .map(({ tag }) => (
                <HistogramCard
                  key={`${tag.run}\n${tag.tag}`}
                  {...{ job, tag, settings, change, start }}
                  extra={extra?.(tag)}
                />
              ))}
          </Layer>
        ))}
      </div>
      {tags.length > most && (
        <Button onClick={() => setMost(most + CARDS)}>
          {words.showMore(Math.min(CARDS, tags.length - most))}
        </Button>
      )}
    </>
  );
}

function Layer({ name, children }: { name: string; children: ReactNode[] }): ReactNode {
  return (
    <section
      className="histogram-layer"
      aria-label={name}
      // Small ones stand side by side where there is room.
      style={{ "--cards": children.length } as CSSProperties}
    >
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <div className="histogram-grid">{children}</div>
    </section>
  );
}
