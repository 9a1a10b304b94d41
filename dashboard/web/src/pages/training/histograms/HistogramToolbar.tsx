// The settings of all histograms of a page.

import { Checkbox, Segmented, Select } from "antd";
import type { ReactNode } from "react";
import { useText, wordFor } from "../../../i18n";
import { AxisChoice, TagFilter } from "../Toolbar";
import type { SettingsControl } from "../use_settings";
import type { HistogramSettings } from "./histogram_settings";
import { HEIGHTS, MODES } from "./histogram_settings";

interface Props extends SettingsControl {
  runs: readonly string[];
  /** The one that shows. */
  run: string;
}

export function HistogramToolbar({ runs, run, settings, change }: Props): ReactNode {
  const { t } = useText();
  const words = t.training.hist;
  const look = settings.histograms;
  const set = (more: Partial<HistogramSettings>): void =>
    change({ histograms: { ...look, ...more } });
  return (
    <div className="histogram-toolbar" role="group" aria-label={words.settings}>
      {runs.length > 1 && (
        <Select
          size="small"
          aria-label={words.run}
          value={run}
          options={runs.map((one) => ({ value: one, label: wordFor(words.runs, one) }))}
          optionRender={({ label }) => <bdi>{label}</bdi>}
          popupMatchSelectWidth={false}
          onChange={(next) => set({ run: next, step: undefined })}
        />
      )}
      <Segmented
        size="small"
        aria-label={words.mode}
        options={MODES.map((mode) => ({ value: mode, label: words.modes[mode] }))}
        value={look.mode}
        onChange={(mode) => set({ mode })}
      />
      <AxisChoice settings={settings} change={change} />
      <span className="training-setting">
        <span aria-hidden="true">{words.height}</span>
        <Segmented
          size="small"
          aria-label={words.height}
          options={HEIGHTS.map((one) => ({
            value: one,
            label: words.heights[one],
            title: words.heightWhy[one],
          }))}
          value={look.height}
          onChange={(height) => set({ height })}
        />
      </span>
      <Checkbox checked={look.log} onChange={(event) => set({ log: event.target.checked })}>
        {words.log}
      </Checkbox>
      <TagFilter
        tags={look.layers}
        label={words.filter}
        problem={words.badFilter}
        onChange={(layers) => set({ layers })}
      />
      {settings.zoom && <span className="muted">{words.zoomed}</span>}
    </div>
  );
}
