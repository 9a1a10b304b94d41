// What a job is and how far, in one strip.

import type { ReactNode } from "react";
import { Link } from "react-router";
import type { JobDetail } from "../../api/types";
import { useKeepNamespace } from "../../app/namespace";
import { Age } from "../../components/Age";
import { ProgressBar } from "../../components/ProgressBar";
import { RolesSummary } from "../../components/Roles";
import { useText } from "../../i18n";
import type { Texts } from "../../i18n/en";

export function JobFacts({ job }: { job: JobDetail }): ReactNode {
  const { t, format } = useText();
  const keep = useKeepNamespace();
  const { progress, finishedFor } = job;
  const words = t.job.facts;
  const ttl = finishedFor?.ttlSeconds;
  return (
    <dl className="job-facts">
      {progress && <ProgressFact job={job} />}
      <Fact name={words.replicas} value={<RolesSummary roles={job.roles} />} />
      <Fact name={words.age} value={<Age since={job.created} long />} />
      {job.started !== undefined && (
        <Fact
          name={timeName(job, words)}
          value={<Age since={job.started} until={job.finished} long />}
        />
      )}
      {job.gpus > 0 && <Fact name={words.gpus} value={format.number(job.gpus)} />}
      <Fact
        name={words.restarts}
        value={
          <>
            {format.number(job.restarts)}
            {job.attempt > 1 && <span className="muted"> · {words.attempt(job.attempt)}</span>}
          </>
        }
      />
      {progress && job.state === "Running" && progress.examplesPerSecond > 0 && (
        <Fact name={words.rate} value={format.short(progress.examplesPerSecond)} />
      )}
      {progress?.loss !== undefined && (
        <Fact name={words.loss} value={format.short(progress.loss)} />
      )}
      {progress?.accuracy !== undefined && (
        <Fact name={words.accuracy} value={format.percent(progress.accuracy * 100)} />
      )}
      {job.owner !== undefined && <Fact name={words.owner} value={<bdi>{job.owner}</bdi>} />}
      {job.queue !== undefined && (
        <Fact
          name={words.queue}
          value={
            <Link to={keep("/queues")}>
              <bdi>{job.queue}</bdi>
            </Link>
          }
        />
      )}
      {ttl !== undefined && <Fact name={words.ttl} value={words.goesIn(format.span(ttl))} />}
    </dl>
  );
}

/** A job counts as started when its pods are made, and they may wait. */
function timeName({ finished, state }: JobDetail, words: Texts["job"]["facts"]): string {
  if (finished !== undefined) return words.ran;
  return state === "Pending" ? words.waiting : words.sinceStart;
}

function ProgressFact({ job }: { job: JobDetail }): ReactNode {
  const { t, format } = useText();
  const { progress } = job;
  if (!progress) return null;
  const { step, maxSteps, etaSeconds } = progress;
  const live = job.finished === undefined && job.state === "Running";
  const steps =
    maxSteps > 0 ? t.jobs.stepOf(format.number(step), format.number(maxSteps)) : undefined;
  return (
    <Fact
      name={t.job.facts.progress}
      wide
      value={
        <>
          {/* The words below say when it will be done. */}
          <ProgressBar progress={progress} ended />
          {steps !== undefined && (
            <span className="job-steps">
              {steps}
              {live && etaSeconds !== undefined && (
                <> · {t.job.facts.left(format.span(etaSeconds))}</>
              )}
            </span>
          )}
        </>
      }
    />
  );
}

function Fact(props: { name: string; value: ReactNode; wide?: boolean }): ReactNode {
  const { name, value, wide = false } = props;
  return (
    <div className={wide ? "job-fact job-fact-wide" : "job-fact"}>
      <dt>{name}</dt>
      <dd className="numeric">{value}</dd>
    </div>
  );
}
