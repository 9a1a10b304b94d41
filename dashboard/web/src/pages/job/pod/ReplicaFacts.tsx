// What the stream says of a replica, and what only its pod knows beside it.

import type { ReactNode } from "react";
import { Link } from "react-router";
import type { JobDetail, PodUsage, Replica } from "../../../api/types";
import type { UsageOverTime } from "../../../api/usage_history";
import { linesOf } from "../../../api/usage_history";
import { useKeepNamespace } from "../../../app/namespace";
import { CopyButton } from "../../../components/CopyButton";
import { Sparkline } from "../../../components/Sparkline";
import { HealthTag, RoleBadge, StateTag } from "../../../components/Tags";
import { useText, wordFor } from "../../../i18n";
import type { Texts } from "../../../i18n/en";
import { Said } from "../../../i18n/said";
import { useLogPage } from "../JobMessage";
import { replicaName } from "../names";
import { adviceFor, whyWords } from "../said";
import { isNotStarted } from "./exit_code";
import { ExitWords } from "./ExitWords";
import type { PodView } from "./pod_object";

interface Props {
  job: JobDetail;
  replica: Replica;
  pod: PodView | undefined;
  usage?: UsageOverTime;
}

export function ReplicaFacts({ job, replica, pod, usage }: Props): ReactNode {
  const { t } = useText();
  const { health, healthReason, message, exitCode, exitReason } = replica;
  const logPage = useLogPage(job, replicaName(replica));
  return (
    <>
      <p className="job-pod-tags">
        <RoleBadge role={replica.role} index={replica.index} />
        <StateTag state={replica.state} />
        <HealthTag health={health} reason={healthReason} />
        {replica.state === "Running" && (
          <span className="muted">{replica.ready ? t.job.pod.ready : t.job.pod.notReady}</span>
        )}
        <Link to={logPage}>{t.job.pod.logs}</Link>
      </p>
      {(healthReason !== undefined || message !== undefined) && (
        <div className={`job-pod-why job-message-${health}`}>
          {healthReason && <b>{t.job.headed(wordFor(t.common.healthReason, healthReason))} </b>}
          {message !== undefined && (
            <Said className="job-said" text={whyWords(message, t, exitReason)} />
          )}
          {healthReason && <p>{adviceFor(healthReason, isNotStarted(exitReason), t)}</p>}
        </div>
      )}
      {exitCode !== undefined && exitCode !== 0 && (
        <p>
          <ExitWords code={exitCode} reason={exitReason} kind={job.kind} program />
        </p>
      )}
      <Facts replica={replica} pod={pod} usage={usage} />
    </>
  );
}

function Facts({ replica, pod, usage }: Omit<Props, "job">): ReactNode {
  const { t, format } = useText();
  const keep = useKeepNamespace();
  const words = t.job.pod.facts;
  const time = (at: string | undefined): string | undefined => at && format.dateTime(at);
  const number = replica.podNumber && t.job.pod.numberOf(replica.podNumber);
  const facts: [string, ReactNode][] = [
    [words.pod, replica.pod && <Copied text={replica.pod} />],
    [
      words.node,
      replica.node && (
        <Link to={keep("/gpus")}>
          <bdi>{replica.node}</bdi>
        </Link>
      ),
    ],
    [words.ip, replica.ip && <Copied text={replica.ip} />],
    [words.number, <Hint value={number} hint={t.job.pod.numberHint} />],
    [words.attempt, <Hint value={replica.attempt} hint={t.job.pod.attemptHint} />],
    [words.restarts, replica.restarts],
    [words.devices, devicesText(replica, t.job.pod)],
    ...useUsed(replica, usage),
    [words.created, time(replica.created)],
    [words.started, time(replica.started)],
    [words.finished, time(replica.finished)],
    [words.priority, pod?.priorityClass],
    [words.account, pod?.serviceAccount],
    [words.qos, pod?.qosClass],
  ];
  return (
    <dl className="job-pod-facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="numeric">{typeof value === "string" ? <bdi>{value}</bdi> : value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** What the pod uses and has used; of a cluster that does not say so, that it does not. */
function useUsed(replica: Replica, usage: UsageOverTime | undefined): [string, ReactNode][] {
  const { t, format } = useText();
  const words = t.job.facts;
  const { pod } = replica;
  if (replica.state !== "Running" || pod === undefined || usage === undefined) return [];
  const { now, history } = usage;
  const used = Object.hasOwn(now.pods, pod) ? now.pods[pod] : undefined;
  if (!used) {
    const why = wordFor(t.job.pod.notMeasured, now.why ?? "NotYet");
    return [[t.job.pod.facts.used, <span className="muted">{why}</span>]];
  }
  const withLine = (key: keyof PodUsage, text: (value: number) => string): ReactNode => {
    const lines = linesOf(history, pod, key);
    const values = lines.flat().map(({ value }) => value);
    const since = lines[0]?.[0] && format.time(lines[0][0].at);
    const range = [Math.min(...values), Math.max(...values)].map(text) as [string, string];
    return (
      <>
        {text(used[key])}
        {since !== undefined && (
          <Sparkline lines={lines} label={t.job.pod.usedSince(since, ...range)} />
        )}
      </>
    );
  };
  return [
    [words.cpu, withLine("cpu", (value) => words.cores(format.short(value)))],
    [words.memory, withLine("memoryMiB", format.memory)],
  ];
}

function devicesText(
  { gpus = 0, devices = [] }: Replica,
  words: Texts["job"]["pod"],
): string | undefined {
  if (gpus === 0) return undefined;
  // A device may be called "0": alone it would be taken for a number of them.
  if (devices.length > 0) return words.devicesKnown(gpus, devices.join(", "));
  return words.devicesUnknown(gpus);
}

function Copied({ text }: { text: string }): ReactNode {
  return (
    <span className="job-copied">
      <bdi>{text}</bdi>
      <CopyButton text={text} />
    </span>
  );
}

function Hint({ value, hint }: { value: string | number | undefined; hint: string }): ReactNode {
  if (value === undefined) return "—";
  return (
    <>
      {value} <span className="muted">{hint}</span>
    </>
  );
}
