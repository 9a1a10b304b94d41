// How a job of the past ended, in one strip.

import type { ReactNode } from "react";
import type { HistoryDetail, Progress } from "../../api/types";
import { Age } from "../../components/Age";
import { useText, wordFor } from "../../i18n";

export function HistoryFacts({ job }: { job: HistoryDetail }): ReactNode {
  const { t, format } = useText();
  const { progress, started, finished, deleted } = job;
  const words = t.history;
  const time = (at: string | undefined): string | undefined => at && format.dateTime(at);
  const roles = job.roles.map(({ role, desired }) => `${wordFor(t.common.role, role)} ${desired}`);
  const facts: [string, ReactNode][] = [
    [t.job.facts.progress, progress && stepsText(progress)],
    [words.maxReplicas, roles.join(" · ")],
    [words.gpus, job.gpus > 0 && format.number(job.gpus)],
    [words.started, time(started)],
    [words.ended, time(finished)],
    [t.job.facts.ran, started && <Age since={started} until={finished ?? deleted} long />],
    [words.deleted, time(deleted)],
    [t.job.facts.restarts, format.number(job.restarts)],
    [t.job.facts.loss, progress?.loss !== undefined && format.short(progress.loss)],
    [
      t.job.facts.accuracy,
      progress?.accuracy !== undefined && format.percent(progress.accuracy * 100),
    ],
    [
      t.job.facts.perplexity,
      progress?.perplexity !== undefined && format.short(progress.perplexity),
    ],
    [t.job.facts.owner, job.owner],
    [t.job.facts.queue, job.queue],
  ];
  function stepsText({ step, maxSteps }: Progress): string {
    if (maxSteps <= 0) return t.jobs.step(format.number(step));
    return t.jobs.stepOf(format.number(step), format.number(maxSteps));
  }
  return (
    <dl className="job-facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name} className="job-fact">
            <dt>{name}</dt>
            <dd className="numeric">{typeof value === "string" ? <bdi>{value}</bdi> : value}</dd>
          </div>
        ))}
    </dl>
  );
}
