// Chooses the step whose histogram shows as bars. At its end it goes on with the newest.

import type { ReactNode } from "react";
import { useId } from "react";
import type { Histogram } from "../../../api/events";
import { useText } from "../../../i18n";
import { summaryOf } from "./shown";

interface Props {
  name: string;
  all: readonly Histogram[];
  at: number;
  onStep: (step: number | undefined) => void;
}

export function StepSlider({ name, all, at, onStep }: Props): ReactNode {
  const { t, format } = useText();
  const words = t.training.hist;
  const id = useId();
  const chosen = all[at];
  if (!chosen) return null;
  const isNewest = at === all.length - 1;
  const place = `${format.number(chosen.step)}${isNewest ? ` (${words.newest})` : ""}`;
  const time = format.dateTime(chosen.wall * 1000);
  return (
    <div className="histogram-step">
      <label htmlFor={id}>{words.step}</label>
      <input
        id={id}
        type="range"
        min={0}
        max={all.length - 1}
        step={1}
        value={at}
        disabled={all.length < 2}
        aria-label={words.stepOf(name)}
        aria-valuetext={`${place}; ${time}; ${summaryOf(chosen, { words, format })}`}
        onChange={(event) => {
          const next = event.target.valueAsNumber;
          onStep(next === all.length - 1 ? undefined : all[next]?.step);
        }}
      />
      <output className="numeric" htmlFor={id} aria-live="off" title={time}>
        {place}
      </output>
    </div>
  );
}
