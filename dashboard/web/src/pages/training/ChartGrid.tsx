// A chart for each tag, side by side where there is room. They share cursor and zoom.

import type { ReactNode } from "react";
import { useCallback, useId } from "react";
import type { Chart } from "./curves";
import { CurveChart } from "./CurveChart";
import type { Span } from "./scale";
import "./training.css";
import type { SettingsControl } from "./use_settings";

interface Props extends SettingsControl {
  charts: readonly Chart[];
  /** Beside the buttons of each chart. */
  extra?: (tag: string) => ReactNode;
}

export function ChartGrid({ charts, settings, change, extra }: Props): ReactNode {
  const group = useId();
  const onZoom = useCallback((zoom: Span | undefined) => change({ zoom }), [change]);
  return (
    <div className="curve-grid">
      {charts.map((chart) => (
        <CurveChart
          key={chart.tag}
          chart={chart}
          settings={settings}
          group={group}
          onZoom={onZoom}
          extra={extra?.(chart.tag)}
        />
      ))}
    </div>
  );
}
