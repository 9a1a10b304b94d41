// The name of a job, as a link to its page.

import type { ReactNode } from "react";
import { Link } from "react-router";
import type { JobRef, JobTab } from "../api/paths";
import { jobPage } from "../api/paths";
import { useKeepNamespace } from "../app/namespace";

interface Props {
  job: JobRef;
  tab?: JobTab;
  /** "namespace/name" where the namespace does not stand beside it. */
  full?: boolean;
  tabIndex?: number;
}

export function JobLink({ job, tab, full = false, tabIndex }: Props): ReactNode {
  const keep = useKeepNamespace();
  const text = full ? `${job.namespace}/${job.name}` : job.name;
  // <bdi>: a name with marks of direction must not turn around what stands beside it.
  return (
    <Link className="job-link" to={keep(jobPage(job, tab))} title={text} tabIndex={tabIndex}>
      <bdi>{text}</bdi>
    </Link>
  );
}
