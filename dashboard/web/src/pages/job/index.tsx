// The page of one job, for whoever asks: is it well, and if not, why, and what do I do?

import { Alert, Empty } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import { Link, useParams } from "react-router";
import type { JobRef } from "../../api/paths";
import { kindOfPlural } from "../../api/paths";
import type { JobDetail } from "../../api/types";
import { useConnection, useLiveJob } from "../../api/use_stream";
import { useKeepNamespace } from "../../app/namespace";
import { NotFound } from "../../app/NotFound";
import { useSession } from "../../app/session";
import { ErrorPanel } from "../../components/ErrorPanel";
import { LoadingRows } from "../../components/LoadingRows";
import { PageHeader } from "../../components/PageHeader";
import { useText } from "../../i18n";
import "./job.css";
import { JobView } from "./JobView";
import { Trail } from "./Trail";

export default function JobPage(): ReactNode {
  const { namespace = "", plural, name = "" } = useParams();
  const kind = kindOfPlural(plural);
  if (!kind) return <NotFound />;
  const job = { kind, namespace, name };
  // Of another job nothing of this one may stay: neither its last state nor a change on its way.
  return <LiveJob key={`${kind} ${namespace} ${name}`} job={job} />;
}

function LiveJob({ job }: { job: JobRef }): ReactNode {
  const live = useLiveJob(job);
  const { error } = useConnection().status;
  const [last, setLast] = useState<JobDetail>();
  const [deleted, setDeleted] = useState<string>();
  if (live && live !== last) setLast(live);
  const { t } = useText();
  if (live) return <JobView job={live} gone={false} onDelete={setDeleted} />;
  if (live === null) {
    if (!last) return <NoSuchJob job={job} />;
    return (
      <>
        <GoneBanner job={last} mine={deleted === last.uid} />
        <JobView job={last} gone onDelete={setDeleted} />
      </>
    );
  }
  return (
    <>
      <PageHeader title={job.name} trail={<Trail namespace={job.namespace} />} />
      {error ? (
        <ErrorPanel error={error} title={t.job.unreadable} />
      ) : (
        <LoadingRows label={t.job.loading} />
      )}
    </>
  );
}

function NoSuchJob({ job }: { job: JobRef }): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const { historyDays } = useSession();
  const history = { pathname: "/history", search: `?${new URLSearchParams({ q: job.name })}` };
  return (
    <>
      <PageHeader title={job.name} trail={<Trail namespace={job.namespace} />} />
      <Empty
        image={Empty.PRESENTED_IMAGE_SIMPLE}
        description={
          <>
            <h2>{t.job.noneTitle}</h2>
            <p>
              <bdi>{t.job.noneText(job.kind, job.name, job.namespace)}</bdi>
            </p>
          </>
        }
      >
        <p className="job-links">
          <Link to={keep("/jobs")}>{t.shell.toJobs}</Link>
          {historyDays > 0 && <Link to={history}>{t.job.lookInHistory}</Link>}
        </p>
      </Empty>
    </>
  );
}

/** mine: whoever looks has deleted it here. */
function GoneBanner({ job, mine }: { job: JobDetail; mine: boolean }): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const { historyDays } = useSession();
  return (
    <Alert
      className="job-gone"
      role="status"
      type={mine ? "info" : "warning"}
      showIcon
      title={mine ? t.job.youDeleted : t.job.goneTitle}
      description={
        <span className="job-links">
          <span>{mine ? t.job.lastState : t.job.goneText}</span>
          {historyDays > 0 && (
            <Link to={keep(`/history/${encodeURIComponent(job.uid)}`)}>{t.job.openHistory}</Link>
          )}
          <Link to={keep("/jobs")}>{t.shell.toJobs}</Link>
        </span>
      }
    />
  );
}
