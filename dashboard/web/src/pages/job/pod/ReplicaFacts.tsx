// What the stream says of a replica, and what only its pod knows beside it.

import type { ReactNode } from "react";
import { Link } from "react-router";
import type { JobDetail, RecordedUsage, Replica } from "../../../api/types";
import type { UsageOverTime, UsedKind } from "../../../api/usage_history";
import { joinedLines, linesOf, recordedLines } from "../../../api/usage_history";
import { useKeepNamespace } from "../../../app/namespace";
import { CopyButton } from "../../../components/CopyButton";
import { HealthTag, RoleBadge, StateTag } from "../../../components/Tags";
import { UsedLine } from "../../../components/UsedLine";
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
  recorded?: RecordedUsage;
}

export function ReplicaFacts({ job, replica, pod, usage, recorded }: Props): ReactNode {
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
      <Facts replica={replica} pod={pod} usage={usage} recorded={recorded} />
    </>
  );
}

function Facts({ replica, pod, usage, recorded }: Omit<Props, "job">): ReactNode {
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
    ...useUsed(replica, usage, recorded),
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
function useUsed(
  replica: Replica,
  usage: UsageOverTime | undefined,
  recorded: RecordedUsage | undefined,
): [string, ReactNode][] {
  const { t, format } = useText();
  const words = t.job.facts;
  const running = replica.state === "Running" && replica.pod !== undefined ? replica.pod : "";
  const { now = { pods: {} }, history = [] } = running === "" ? {} : (usage ?? {});
  const used = Object.hasOwn(now.pods, running) ? now.pods[running] : undefined;
  const name = replicaName(replica);
  const facts: [string, ReactNode][] = [];
  if (!used && running !== "" && usage !== undefined) {
    const why = wordFor(t.job.pod.notMeasured, now.why ?? "NotYet");
    facts.push([t.job.pod.facts.used, <span className="muted">{why}</span>]);
  }
  const add = (title: string, kind: UsedKind, text: (value: number) => string): void => {
    const ofPage = kind === "cpu" || kind === "memoryMiB";
    const live = ofPage ? linesOf(history, running, kind) : [];
    const lines = joinedLines(recordedLines(recorded, name, kind, live[0]?.[0]?.at), live);
    // Nobody but the server asks GPUs: what it has recorded last is how they are.
    const last = running === "" ? undefined : lines.at(-1)?.at(-1)?.value;
    const value = ofPage ? used?.[kind] : last;
    if (value === undefined && lines.length === 0) return;
    facts.push([title, <UsedLine lines={lines} now={value} text={text} />]);
  };
  add(words.cpu, "cpu", (value) => words.cores(format.short(value)));
  add(words.memory, "memoryMiB", format.memory);
  add(t.job.pod.facts.gpuBusy, "gpu", (value) => format.percent(100 * value));
  add(t.job.pod.facts.gpuMemory, "gpuMemoryMiB", format.memory);
  return facts;
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
