// What a job is and how far, in one strip.

import type { ReactNode } from "react";
import { Link } from "react-router";
import type { JobDetail, JobUsage } from "../../api/types";
import { useKeepNamespace } from "../../app/namespace";
import { Age } from "../../components/Age";
import { ProgressBar } from "../../components/ProgressBar";
import { RolesSummary } from "../../components/Roles";
import { useText } from "../../i18n";
import type { Texts } from "../../i18n/en";
import { usageOfAll } from "./usage";

interface Props {
  job: JobDetail;
  /** undefined: not known, and then not shown. */
  usage?: JobUsage;
}

export function JobFacts({ job, usage }: Props): ReactNode {
  const { t, format } = useText();
  const { progress, finishedFor } = job;
  const used = usageOfAll(usage);
  const words = t.job.facts;
  const ttl = finishedFor?.ttlSeconds;
  return (
    <dl className="job-facts">
      {progress && <ProgressFact job={job} />}
      <Fact name={words.replicas} value={<RolesSummary roles={job.roles} />} span="two" />
      <PlaceFacts job={job} />
      <Fact name={words.age} value={<Age since={job.created} long />} />
      {job.started !== undefined && (
        <Fact
          name={timeName(job, words)}
          value={<Age since={job.started} until={job.finished} long />}
        />
      )}
      {(job.gpus > 0 || job.gpusAsked !== undefined) && (
        <Fact
          name={words.gpus}
          value={
            job.gpusAsked === undefined
              ? format.number(job.gpus)
              : words.gpusOf(format.number(job.gpus), format.number(job.gpusAsked))
          }
        />
      )}
      {used && (
        <>
          <Fact name={words.cpu} value={words.cores(format.short(used.cpu))} />
          <Fact name={words.memory} value={format.memory(used.memoryMiB)} />
        </>
      )}
      <Fact
        name={words.restarts}
        value={
          <>
            {format.number(job.restarts)}
            {job.attempt > 1 && <span className="muted"> · {words.attempt(job.attempt)}</span>}
          </>
        }
      />
      <TrainingFacts job={job} />
      {ttl !== undefined && <Fact name={words.ttl} value={words.goesIn(format.span(ttl))} />}
    </dl>
  );
}

/** Whose it is, and where it waits. */
function PlaceFacts({ job }: { job: JobDetail }): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const words = t.job.facts;
  return (
    <>
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
    </>
  );
}

function TrainingFacts({ job }: { job: JobDetail }): ReactNode {
  const { t, format } = useText();
  const { progress } = job;
  const words = t.job.facts;
  return (
    <>
      {progress && job.state === "Running" && progress.examplesPerSecond > 0 && (
        <Fact name={words.rate} value={format.short(progress.examplesPerSecond)} />
      )}
      {progress?.loss !== undefined && (
        <Fact name={words.loss} value={format.short(progress.loss)} />
      )}
      {progress?.accuracy !== undefined && (
        <Fact name={words.accuracy} value={format.percent(progress.accuracy * 100)} />
      )}
      {progress?.perplexity !== undefined && (
        <Fact name={words.perplexity} value={format.short(progress.perplexity)} />
      )}
    </>
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
      span="wide"
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

function Fact(props: { name: string; value: ReactNode; span?: "two" | "wide" }): ReactNode {
  const { name, value, span } = props;
  return (
    <div className={span ? `job-fact job-fact-${span}` : "job-fact"}>
      <dt>{name}</dt>
      <dd className="numeric">{value}</dd>
    </div>
  );
}
