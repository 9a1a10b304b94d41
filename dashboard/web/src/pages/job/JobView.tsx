// A job that is known: what is the matter first, then its replicas and what has happened.

import type { ReactNode } from "react";
import { useDeferredValue, useEffect, useRef } from "react";
import { useTrainingFacts, useUsage } from "../../api/queries";
import type { JobDetail } from "../../api/types";
import { useAnnounce } from "../../components/Announcer";
import { PageHeader } from "../../components/PageHeader";
import { HealthTag, StateTag } from "../../components/Tags";
import { useText, wordFor } from "../../i18n";
import { ChangeFailure, JobActions } from "./actions/JobActions";
import { useJobChanges } from "./actions/use_job_changes";
import { JobFacts } from "./JobFacts";
import { JobMessage } from "./JobMessage";
import { JobTabs } from "./JobTabs";
import { ManifestView } from "./manifest/ManifestView";
import { findReplica } from "./names";
import { PodDrawer } from "./pod/PodDrawer";
import { Replicas } from "./replicas/Replicas";
import { JobTimeline } from "./timeline/JobTimeline";
import { Checkpoints } from "./trained/Checkpoints";
import { RankTimes } from "./trained/RankTimes";
import { TrainedModel } from "./trained/TrainedModel";
import { Trail } from "./Trail";
import { useView } from "./use_view";

interface Props {
  job: JobDetail;
  /** It no longer exists: this is its last state. */
  gone: boolean;
  /** The user deletes it here; undefined: that failed. */
  onDelete: (uid: string | undefined) => void;
}

export function JobView({ job, gone, onDelete }: Props): ReactNode {
  const view = useView();
  const changes = useJobChanges(job, onDelete);
  useSpokenState(job);
  // Of thousands of replicas the squares may lag behind: what is the matter must not.
  const later = useDeferredValue(job);
  const open = findReplica(view.replica, job);
  const stays = !gone && !job.deleting;
  const runs = stays && job.replicas.some(({ state }) => state === "Running");
  const usage = useUsage(job, runs);
  return (
    <>
      <PageHeader
        title={job.name}
        trail={<Trail namespace={job.namespace} />}
        extra={
          <>
            <span className="chip">{job.kind}</span>
            <HealthTag health={job.health} reason={job.healthReason} />
            <StateTag state={job.state} deleting={job.deleting} />
          </>
        }
        actions={<JobActions job={job} gone={gone} changes={changes} />}
      />
      <ChangeFailure changes={changes} />
      <JobMessage job={job} onReplica={view.openReplica} />
      <JobFacts job={job} usage={usage?.now} />
      <JobTabs job={job} current={view.tab} />
      {view.tab === "yaml" ? (
        <ManifestView job={job} gone={gone} />
      ) : (
        <div className="job-sections">
          <Replicas
            job={later}
            view={view.replicas}
            onView={view.setReplicas}
            onReplica={view.openReplica}
          />
          <Trained job={job} runs={runs} gone={!stays} onReplica={view.openReplica} />
          <JobTimeline job={later} onReplica={view.openReplica} />
        </div>
      )}
      <PodDrawer
        job={job}
        name={view.replica}
        replica={open}
        usage={usage}
        onClose={view.closeReplica}
      />
    </>
  );
}

interface TrainedProps {
  job: JobDetail;
  runs: boolean;
  gone: boolean;
  onReplica: (name: string) => void;
}

/** What its trainer says of it; of other programs there is nothing. */
function Trained({ job, runs, gone, onReplica }: TrainedProps): ReactNode {
  const over = job.state === "Succeeded" || job.state === "Failed";
  const facts = useTrainingFacts(job, { runs, over, gone });
  return (
    <>
      {facts?.ranks && runs && (
        <RankTimes ranks={facts.ranks} slowest={facts.slowest} onReplica={onReplica} />
      )}
      {facts?.model && over && <TrainedModel job={job} model={facts.model} />}
      {facts?.checkpoints && <Checkpoints job={job} checkpoints={facts.checkpoints} />}
    </>
  );
}

/** Tells screen readers when the job's state or health has changed. */
function useSpokenState(job: JobDetail): void {
  const { t } = useText();
  const announce = useAnnounce();
  const state = wordFor(t.common.state, job.state);
  const health = wordFor(t.common.health, job.health);
  const text = t.job.stateNow(job.name, `${state}, ${health}`);
  const said = useRef(text);
  useEffect(() => {
    if (said.current === text) return;
    said.current = text;
    announce(text);
  }, [text, announce]);
}
