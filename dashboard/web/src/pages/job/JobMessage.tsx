// What is the matter with the job: the cluster's one sentence, what kind of trouble it is, and what
// to do. The replicas that the sentence names are links to their details.

import type { ReactNode } from "react";
import { Fragment } from "react";
import type { Path } from "react-router";
import { Link } from "react-router";
import { jobPage } from "../../api/paths";
import { useSeen } from "../../api/seen";
import { useServices } from "../../api/services";
import type { Health, HealthReason, JobDetail, Replica } from "../../api/types";
import { useKeepNamespace, useNamespace } from "../../app/namespace";
import type { GlyphName } from "../../components/Glyph";
import { Glyph } from "../../components/Glyph";
import type { Texts } from "../../i18n/en";
import { useText, wordFor } from "../../i18n";
import type { SaidIn } from "../../i18n/said";
import { useSaid } from "../../i18n/said";
import { wishLink } from "../gpus/wish";
import { headlineOf } from "./headline";
import { messageParts, replicaName, worstReplica } from "./names";
import { NeverFits, wantedByOne } from "./NeverFits";
import { isNotStarted } from "./pod/exit_code";
import { adviceFor, LOG_HELPS, whyWords } from "./said";

interface Props {
  job: JobDetail;
  onReplica: (name: string) => void;
}

const PLACES_HELP: readonly string[] = ["Unschedulable", "PendingLong"];

/** The job has a sentence of the cluster, and nothing says more than it. */
function speaks(job: JobDetail): boolean {
  // Of a resting one: who reads it has a button for what the sentence says about fields.
  return !job.deleting && !isResting(job) && job.message !== "";
}

/** Never empty: a job that says nothing is in a state. */
function sentenceOf(job: JobDetail, t: Texts, said: SaidIn["said"]): string {
  if (job.deleting) return t.job.headlineDeleting;
  if (isResting(job)) return wordFor(t.job.headline, job.state);
  if (job.message !== "") return said(headlineOf(job.message).sentence);
  const worst = worstReplica(job.replicas);
  const reason = job.healthReason ? wordFor(t.common.healthReason, job.healthReason) : "";
  if (worst) {
    const why = worst.message === undefined ? reason : said(whyWords(worst.message, t));
    return t.job.worst(replicaName(worst), why);
  }
  if (reason !== "") return reason;
  return wordFor(t.job.headline, job.state);
}

export function JobMessage({ job, onReplica }: Props): ReactNode {
  const { t } = useText();
  const { said } = useSaid();
  const sentence = sentenceOf(job, t, said);
  const reason = job.healthReason && wordFor(t.common.healthReason, job.healthReason);
  const [tone, glyph] = lookOf(job);
  return (
    <section className={`job-message job-message-${tone}`} aria-label={t.job.message}>
      <Glyph name={glyph} />
      <div className="job-message-text">
        <p className="job-sentence">
          <bdi title={speaks(job) && sentence !== job.message ? job.message : undefined}>
            {messageParts(sentence, job).map(({ text, replica }, place) => (
              <Fragment key={place}>
                {replica ? (
                  <button
                    type="button"
                    className="job-inline-link"
                    onClick={() => onReplica(replicaName(replica))}
                  >
                    {text}
                  </button>
                ) : (
                  text
                )}
              </Fragment>
            ))}
          </bdi>
        </p>
        {speaks(job) && <Before lines={headlineOf(job.message).before} />}
        {reason !== undefined && job.healthReason && (
          <p className="job-advice">
            {reason !== sentence && <b>{t.job.headed(reason)} </b>}
            {adviceFor(job.healthReason, neverStarted(job), t)}{" "}
            {PLACES_HELP.includes(job.healthReason) && wantedByOne(job) > 0 && (
              <NeverFits wanted={wantedByOne(job)} />
            )}{" "}
            <Ways job={job} reason={job.healthReason} onReplica={onReplica} />
          </p>
        )}
      </div>
    </section>
  );
}

/** What a program wrote before its last line. */
function Before({ lines }: { lines: readonly string[] }): ReactNode {
  const { t } = useText();
  if (lines.length === 0) return null;
  return (
    <div className="job-before">
      <span className="muted">{t.job.before}</span>
      <pre>
        <bdi>{lines.join("\n")}</bdi>
      </pre>
    </div>
  );
}

/** The list of jobs then leaves it out of what needs attention. */
function Seen({ job }: { job: JobDetail }): ReactNode {
  const { t } = useText();
  const { seen } = useServices();
  const known = useSeen()(job);
  return (
    <button type="button" className="job-inline-link" onClick={() => seen.mark([job], !known)}>
      {known ? t.common.markUnseen : t.common.markSeen}
    </button>
  );
}

function isResting({ state, health }: JobDetail): boolean {
  return state === "Suspended" && health !== "warning" && health !== "critical";
}

/** A job that waits or rests is neither well nor ill; one that runs says what it waits for. */
function lookOf({ health, state, deleting, message }: JobDetail): [Health | "calm", GlyphName] {
  if (deleting) return ["calm", "deleting"];
  if (health === "warning" || health === "critical") return [health, health];
  if (state === "Suspended") return ["calm", "suspended"];
  const waits = state === "Pending" || (state === "Running" && message !== "");
  return waits ? ["calm", "pending"] : ["ok", "ok"];
}

/** Where to go from here. */
function Ways({ job, reason, onReplica }: Props & { reason: HealthReason }): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const suspect = suspectOf(job);
  return (
    <span className="job-links">
      {suspect && (
        <button
          type="button"
          className="job-inline-link"
          onClick={() => onReplica(replicaName(suspect))}
        >
          {t.job.lookAt(replicaName(suspect))}
        </button>
      )}
      {LOG_HELPS.includes(reason) && !neverStarted(job) && <LogLink job={job} replica={suspect} />}
      {PLACES_HELP.includes(reason) && (
        <>
          <Link to={gpusLink(job, keep("/gpus"))}>{t.job.seeGpus}</Link>
          <Link to={keep("/queues")}>{t.job.seeQueues}</Link>
        </>
      )}
      {reason === "LossRises" && (
        <Link to={keep(jobPage(job, "training"))}>{t.job.seeCurves}</Link>
      )}
      <Seen job={job} />
    </span>
  );
}

/** To the map of GPUs; of a job that waits for some, with the finder open on what it waits for. */
function gpusLink(job: JobDetail, to: Partial<Path>): Partial<Path> {
  const waiting = job.replicas.filter(({ state, gpus = 0 }) => state === "Pending" && gpus > 0);
  if (waiting.length === 0) return to;
  const search = new URLSearchParams(to.search);
  search.set(...wishLink(waiting.length, Math.max(...waiting.map(({ gpus = 0 }) => gpus))));
  return { ...to, search: `?${search}` };
}

/** The replica to look at: the worst one, or the one that the sentence names. */
function suspectOf(job: JobDetail): Replica | undefined {
  const named = messageParts(job.message, job).find(({ replica }) => replica)?.replica;
  return named ?? worstReplica(job.replicas);
}

// As the operator writes of an end; the pod itself may have been cleaned up.
const SAYS_NOT_STARTED = /\((?:StartError|ContainerCannotRun)\)/;

function neverStarted(job: JobDetail): boolean {
  return isNotStarted(suspectOf(job)?.exitReason) || SAYS_NOT_STARTED.test(job.message);
}

function LogLink({ job, replica }: { job: JobDetail; replica: Replica | undefined }): ReactNode {
  const { t } = useText();
  return (
    <Link to={useLogPage(job, replica && replicaName(replica))}>
      {replica ? t.job.logsOf(replicaName(replica)) : t.job.logs}
    </Link>
  );
}

/** The page of the job's logs, of one replica only if it is given. */
export function useLogPage(job: JobDetail, replica: string | undefined) {
  const [namespace] = useNamespace();
  const search = new URLSearchParams();
  if (namespace !== "") search.set("ns", namespace);
  if (replica !== undefined) search.set("replica", replica);
  return { pathname: jobPage(job, "logs"), search: search.size > 0 ? `?${search}` : "" };
}
