// The settings of all charts of a page.

import { ZoomOutOutlined } from "@ant-design/icons";
import { Button, Checkbox, Input, InputNumber, Segmented, Slider } from "antd";
import type { ReactNode } from "react";
import { useId } from "react";
import { useText } from "../../i18n";
import { tagFilter } from "./curves";
import { AXES, WEIGHT_MAX } from "./settings";
import type { SettingsControl } from "./use_settings";

const FINE = 0.001;
const COARSE = 0.05;

export function Toolbar({ settings, change }: SettingsControl): ReactNode {
  const { t } = useText();
  const words = t.training;
  const setWeight = (weight: number | null): void => change({ weight: weight ?? 0 });
  return (
    <div className="training-toolbar" role="group" aria-label={words.settings}>
      <div className="training-setting training-smooth">
        <span>{words.smoothing}</span>
        <Slider
          min={0}
          max={WEIGHT_MAX}
          step={FINE}
          value={settings.weight}
          onChange={setWeight}
          tooltip={{ open: false }}
          ariaLabelForHandle={words.smoothing}
        />
        <InputNumber
          size="small"
          min={0}
          max={WEIGHT_MAX}
          step={COARSE}
          value={settings.weight}
          onChange={setWeight}
          aria-label={words.smoothing}
        />
      </div>
      <AxisChoice settings={settings} change={change} />
      <Checkbox checked={settings.log} onChange={(event) => change({ log: event.target.checked })}>
        {words.log}
      </Checkbox>
      <Checkbox
        checked={settings.outliers}
        onChange={(event) => change({ outliers: event.target.checked })}
      >
        {words.outliers}
      </Checkbox>
      <TagFilter
        tags={settings.tags}
        label={words.filter}
        problem={words.badFilter}
        onChange={(tags) => change({ tags })}
      />
      <Button
        size="small"
        icon={<ZoomOutOutlined aria-hidden />}
        disabled={settings.zoom === undefined}
        onClick={() => change({ zoom: undefined })}
      >
        {words.resetZoom}
      </Button>
    </div>
  );
}

/** Of the curves and of the histograms. */
export function AxisChoice({ settings, change }: SettingsControl): ReactNode {
  const { t } = useText();
  const words = t.training;
  return (
    <Segmented
      size="small"
      aria-label={words.axis}
      options={AXES.map((axis) => ({ value: axis, label: words.axes[axis] }))}
      value={settings.axis}
      // A span of steps is none of times.
      onChange={(axis) => change({ axis, zoom: undefined })}
    />
  );
}

interface FilterProps {
  tags: string;
  label: string;
  problem: string;
  onChange: (tags: string) => void;
}

export function TagFilter({ tags, label, problem, onChange }: FilterProps): ReactNode {
  const good = tagFilter(tags) !== undefined;
  const id = useId();
  return (
    <span className="training-filter">
      <Input
        size="small"
        allowClear
        value={tags}
        placeholder={label}
        aria-label={label}
        status={good ? "" : "error"}
        aria-invalid={!good}
        aria-describedby={good ? undefined : id}
        onChange={(event) => onChange(event.target.value)}
      />
      {!good && (
        <span id={id} role="alert" className="training-bad">
          {problem}
        </span>
      )}
    </span>
  );
}
