// How far a job is: a bar, the percent, and when it will be done.

import type { ReactNode } from "react";
import type { Progress } from "../api/types";
import { useText } from "../i18n";

interface Props {
  progress: Progress | undefined;
  /** It will not come further: no time of arrival. */
  ended?: boolean;
}

export function ProgressBar({ progress, ended = false }: Props): ReactNode {
  const { t, format } = useText();
  if (!progress) return <span className="muted">—</span>;
  if (progress.maxSteps <= 0) {
    return <span className="numeric">{t.jobs.step(format.number(progress.step))}</span>;
  }
  const percent = Math.min(100, Math.max(0, progress.percent));
  const eta = ended ? undefined : progress.etaSeconds;
  const steps = t.jobs.stepOf(format.number(progress.step), format.number(progress.maxSteps));
  return (
    <span className="progress numeric" title={steps}>
      <span
        className="progress-track"
        role="progressbar"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.floor(percent)}
        aria-label={steps}
      >
        <span className="progress-done" style={{ width: `${percent}%` }} />
      </span>
      <span className="progress-percent">{format.percent(Math.floor(percent))}</span>
      {eta !== undefined && <span className="progress-eta">{format.age(eta)}</span>}
    </span>
  );
}
