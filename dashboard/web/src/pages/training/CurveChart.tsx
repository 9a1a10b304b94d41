// One tag: its curves on a canvas, their legend, and the same as a table and as a file.
//
//   <CurveChart chart={chart} settings={settings} group="page" onZoom={zoom} />
//
// Zoom belongs to whoever shows several charts; which lines are hidden is the chart's own.

import type { KeyboardEvent, ReactNode } from "react";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { useTheme } from "../../app/theme";
import { useText, wordFor } from "../../i18n";
import { placeText, valueText } from "./axis_text";
import { ChartActions } from "./ChartActions";
import { csvOf } from "./csv";
import type { Chart } from "./curves";
import { CurveTable } from "./CurveTable";
import { Legend } from "./Legend";
import { lineStyle } from "./line_style";
import type { PlotHandle } from "./plot_options";
import type { Span } from "./scale";
import { keyMove } from "./keys";
import type { Settings } from "./settings";
import { WEIGHT_DEFAULT } from "./settings";
import { SMOOTHED_POINTS_MIN } from "./smoothing";
import type { ChartData } from "./use_chart";
import { useChart } from "./use_chart";

const Plot = lazy(() => import("./Plot"));

interface Props {
  chart: Chart;
  settings: Settings;
  /** Charts with the same one share the cursor. */
  group: string;
  onZoom: (span: Span | undefined) => void;
  /** It fills its frame. */
  fill?: boolean;
  /** In the head, at its end. */
  extra?: ReactNode;
}

export function CurveChart(props: Props): ReactNode {
  const { chart, settings, group, onZoom, fill = false, extra } = props;
  const { t } = useText();
  const words = t.training;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [table, setTable] = useState(false);
  const [cursor, setCursor] = useState<number | null>(null);
  const shown = useChart(chart.lines, hidden, settings);
  const name = wordFor(words.tags, chart.tag);
  const toggle = (id: string): void => {
    const after = new Set(hidden);
    if (!after.delete(id)) after.add(id);
    setHidden(after);
  };
  const index = cursor !== null && cursor < shown.data.x.length ? cursor : null;
  return (
    <section className={fill ? "curve-chart curve-fill" : "curve-chart"} aria-label={name}>
      <div className="curve-head">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <CursorPlace index={index} shown={shown} settings={settings} />
        <ChartActions
          {...{ name, table, extra }}
          tag={chart.tag}
          onTable={setTable}
          csv={() => csvOf(chart)}
        />
      </div>
      <Canvas
        {...{ chart, settings, group, onZoom, hidden, shown, name, index }}
        onCursor={setCursor}
      />
      {asksForSmoothing(chart, settings) && !shown.smoothed && (
        <p className="curve-note muted">{words.notSmoothed(SMOOTHED_POINTS_MIN)}</p>
      )}
      <Legend
        lines={chart.lines}
        hidden={hidden}
        at={index === null ? undefined : valuesAt(shown, index)}
        gaps={shown.lines.map((line) => line.gaps.length)}
        log={settings.log}
        onToggle={toggle}
      />
      {table && (
        <CurveTable
          lines={chart.lines}
          data={shown.data}
          axis={settings.axis}
          caption={words.tableOf(name)}
        />
      )}
    </section>
  );
}

/** Somebody has moved the slider: she is told where it does nothing, the others are not. */
function asksForSmoothing({ lines }: Chart, { weight }: Settings): boolean {
  return weight > 0 && weight !== WEIGHT_DEFAULT && lines.some(({ ofTest }) => !ofTest);
}

/** Where a line has nothing at the cursor: what it had before that. */
function valuesAt({ data }: ChartData, index: number): (number | null | undefined)[] {
  return data.columns
    .filter((_, column) => column % 2 === 1)
    .map((column) => column.slice(0, index + 1).findLast((value) => value !== undefined));
}

interface PlaceProps {
  index: number | null;
  shown: ChartData;
  settings: Settings;
}

function CursorPlace({ index, shown, settings }: PlaceProps): ReactNode {
  const { t, format } = useText();
  const place = index === null ? undefined : shown.data.x[index];
  if (place === undefined) return null;
  return (
    <span className="curve-place muted numeric">
      {t.training.axes[settings.axis]} {placeText(settings.axis, place, format)}
    </span>
  );
}

interface CanvasProps extends Pick<Props, "chart" | "settings" | "group" | "onZoom"> {
  hidden: ReadonlySet<string>;
  shown: ChartData;
  name: string;
  index: number | null;
  onCursor: (index: number | null) => void;
}

function Canvas(props: CanvasProps): ReactNode {
  const { chart, settings, group, onZoom, hidden, shown, name, index, onCursor } = props;
  const { t } = useText();
  const { dark } = useTheme();
  const handle = useRef<PlotHandle>(null);
  const { axis, log, weight } = settings;
  const look = {
    axis,
    log,
    raw: weight > 0 && shown.smoothed,
    lines: chart.lines.map((line) => ({
      id: line.id,
      style: lineStyle(line, dark),
      shown: !hidden.has(line.id),
    })),
  };
  const gaps = useMemo(() => shown.lines.map((line) => line.gaps), [shown]);
  const now = { x: shown.x, y: shown.y, gaps, onZoom, onCursor };
  const onKeyDown = useCallback(
    (event: KeyboardEvent) => {
      const move = keyMove(event, { places: shown.data.x, x: shown.x, all: shown.all, index });
      if (!move) return;
      event.preventDefault();
      if ("index" in move) handle.current?.moveTo(move.index);
      else onZoom(move.zoom);
    },
    [shown, index, onZoom],
  );
  return (
    <div
      className="curve-frame"
      role="slider"
      tabIndex={0}
      aria-label={t.training.chartOf(name)}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, shown.data.x.length - 1)}
      aria-valuenow={index ?? 0}
      aria-valuetext={useSpoken(chart, shown, settings, index)}
      onKeyDown={onKeyDown}
    >
      <Suspense fallback={<div className="curve-canvas" />}>
        <Plot data={shown.data} look={look} now={now} group={group} handle={handle} />
      </Suspense>
    </div>
  );
}

/** What the cursor is on, for who hears it. */
function useSpoken(chart: Chart, shown: ChartData, settings: Settings, index: number | null) {
  const { t, format } = useText();
  const words = t.training;
  const place = index === null ? undefined : shown.data.x[index];
  if (index === null || place === undefined) return words.keys;
  const values = valuesAt(shown, index).map((value, line) => {
    const { label = "", ofTest = false } = chart.lines[line] ?? {};
    return `${label} ${ofTest ? words.test : words.train}: ${valueText(value)}`;
  });
  const here = `${words.axes[settings.axis]} ${placeText(settings.axis, place, format)}`;
  return [here, ...values].join("; ");
}
