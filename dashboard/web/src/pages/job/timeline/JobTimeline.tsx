// What has happened to a job that is there: the time line, and why it was restarted how often.

import type { ReactNode } from "react";
import { memo, useId, useMemo } from "react";
import type { JobDetail } from "../../../api/types";
import { useText } from "../../../i18n";
import { findReplica } from "../names";
import { timelineOf } from "./entries";
import { RestartCauses } from "./RestartCauses";
import { Timeline } from "./Timeline";

interface Props {
  job: JobDetail;
  onReplica: (name: string) => void;
}

export const JobTimeline = memo(function JobTimeline({ job, onReplica }: Props): ReactNode {
  const { t } = useText();
  const heading = useId();
  const { conditions, events, restartHistory } = job;
  const entries = useMemo(
    () => timelineOf({ conditions, events, restartHistory }),
    [conditions, events, restartHistory],
  );
  return (
    <section className="job-section" aria-labelledby={heading}>
      <div className="job-section-head">
        <h2 id={heading}>{t.job.timeline}</h2>
        <RestartCauses causes={job.restartsByCause} />
      </div>
      <Timeline
        entries={entries}
        attempt={job.attempt}
        headline={job.message}
        onReplica={(name) => (findReplica(name, job) ? () => onReplica(name) : undefined)}
      />
    </section>
  );
});
