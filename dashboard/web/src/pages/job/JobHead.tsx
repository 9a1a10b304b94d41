// The head of a job's logs and training: whose they are, how it is, and the way to its other pages.

import type { ReactNode } from "react";
import type { JobRef, JobTab } from "../../api/paths";
import type { JobDetail } from "../../api/types";
import { PageHeader } from "../../components/PageHeader";
import { HealthTag, StateTag } from "../../components/Tags";
import { JobTabs } from "./JobTabs";
import { Trail } from "./Trail";

interface Props {
  job: JobRef;
  title: string;
  /** undefined or null: there is no state to show. */
  live: JobDetail | null | undefined;
  current: JobTab;
}

export function JobHead({ job, title, live, current }: Props): ReactNode {
  return (
    <>
      <PageHeader
        title={title}
        trail={<Trail namespace={job.namespace} />}
        extra={
          live && (
            <>
              <HealthTag health={live.health} reason={live.healthReason} />
              <StateTag state={live.state} deleting={live.deleting} />
            </>
          )
        }
      />
      <JobTabs job={job} current={current} />
    </>
  );
}
