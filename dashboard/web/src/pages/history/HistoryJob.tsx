// One job of the past: how it ended, what happened, its last lines and numbers, its manifest.

import { CopyOutlined } from "@ant-design/icons";
import { Alert, Empty, Tabs } from "antd";
import type { ReactNode } from "react";
import { useMemo } from "react";
import { Link, useNavigate } from "react-router";
import { asApiError } from "../../api/problem";
import { useHistoryDetail } from "../../api/queries";
import type { HistoryDetail, Withheld } from "../../api/types";
import { useKeepNamespace, useNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { ErrorPanel } from "../../components/ErrorPanel";
import { JobLink } from "../../components/JobLink";
import { LoadingRows } from "../../components/LoadingRows";
import { PageHeader } from "../../components/PageHeader";
import { StateTag } from "../../components/Tags";
import { useText } from "../../i18n";
import { Said } from "../../i18n/said";
import { ActionButton } from "../job/actions/ActionButton";
import { ObjectView } from "../job/manifest/ManifestView";
import "../job/job.css";
import { RestartCauses } from "../job/timeline/RestartCauses";
import { timelineOf } from "../job/timeline/entries";
import { Timeline } from "../job/timeline/Timeline";
import { Checkpoints } from "../job/trained/Checkpoints";
import { HistoryCurves } from "./HistoryCurves";
import { HistoryFacts } from "./HistoryFacts";
import { HistoryLogs } from "./HistoryLogs";
import { HistoryUsage } from "./HistoryUsage";

export function HistoryJob({ uid }: { uid: string }): ReactNode {
  const { t } = useText();
  const { data, error, failureReason, refetch } = useHistoryDetail(uid);
  if (data) return <Recorded job={data} />;
  const missing = failureReason !== null && asApiError(failureReason).reason === "NotFound";
  return (
    <>
      <PageHeader title={t.history.title} trail={<ToHistory />} />
      {error && <Unread error={error} onRetry={() => void refetch()} />}
      {!error && missing && <p role="status">{t.history.notYet}</p>}
      {!error && <LoadingRows />}
    </>
  );
}

function Unread({ error, onRetry }: { error: Error; onRetry: () => void }): ReactNode {
  const { t } = useText();
  if (asApiError(error).reason !== "NotFound") {
    return <ErrorPanel error={error} title={t.history.unreadable} onRetry={onRetry} />;
  }
  return (
    <Empty
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={
        <>
          <h2>{t.history.noneTitle}</h2>
          <p>{t.history.noneText}</p>
        </>
      }
    >
      <ToHistory />
    </Empty>
  );
}

function ToHistory(): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  return <Link to={keep("/history")}>{t.history.toHistory}</Link>;
}

function Recorded({ job }: { job: HistoryDetail }): ReactNode {
  const ofNamespace = new URLSearchParams({ ns: job.namespace });
  return (
    <>
      <PageHeader
        title={job.name}
        trail={
          <>
            <ToHistory /> /{" "}
            <Link to={{ pathname: "/history", search: `?${ofNamespace}` }}>
              <bdi>{job.namespace}</bdi>
            </Link>
          </>
        }
        extra={
          <>
            <span className="chip">{job.kind}</span>
            <StateTag state={job.state} />
          </>
        }
        actions={<CloneButton job={job} />}
      />
      <Mark job={job} />
      {job.message !== "" && (
        <p className="history-sentence">
          <Said text={job.message} />
        </p>
      )}
      <HistoryFacts job={job} />
      {job.checkpoints && <Checkpoints job={job} checkpoints={job.checkpoints} recorded />}
      <Parts job={job} />
    </>
  );
}

/** Nobody shall take this for a job that is there. */
function Mark({ job }: { job: HistoryDetail }): ReactNode {
  const { t, format } = useText();
  const words = t.history;
  if (job.deleted === undefined) {
    return (
      <Alert
        type="info"
        showIcon
        className="history-mark"
        title={words.thereTitle}
        description={
          <>
            {words.thereText} {words.openJob}: <JobLink job={job} full />
          </>
        }
      />
    );
  }
  return (
    <Alert
      type="warning"
      showIcon
      className="history-mark"
      title={words.goneTitle(format.dateTime(job.deleted))}
      description={job.deletedUnseen ? `${words.unseen} ${words.goneText}` : words.goneText}
    />
  );
}

function Parts({ job }: { job: HistoryDetail }): ReactNode {
  const { t } = useText();
  const { conditions, events, restartHistory, manifest } = job;
  const entries = useMemo(
    () => timelineOf({ conditions, events, restartHistory }),
    [conditions, events, restartHistory],
  );
  const isWithheld = (part: Withheld): boolean => job.withheld?.includes(part) ?? false;
  const why = (part: Withheld): ReactNode => <p>{t.history.withheld[part]}</p>;
  const tabs = [
    {
      key: "timeline",
      label: t.job.timeline,
      children: (
        <>
          {isWithheld("events") && why("events")}
          <RestartCauses causes={job.restartsByCause} />
          <Timeline entries={entries} attempt={job.attempt} headline={job.message} />
        </>
      ),
    },
    {
      key: "logs",
      label: t.history.logs,
      children: isWithheld("logs") ? why("logs") : <HistoryLogs logs={job.logs} />,
    },
    {
      key: "curves",
      label: t.history.curves,
      children: (
        <>
          <HistoryCurves series={job.series} />
          <h2 className="history-usage">{t.history.usage}</h2>
          <HistoryUsage usage={job.usage} />
        </>
      ),
    },
    {
      key: "yaml",
      label: t.job.yaml,
      children: manifest ? (
        <ObjectView object={manifest} fileName={job.name} />
      ) : isWithheld("manifest") ? (
        why("manifest")
      ) : (
        <p className="muted">{t.history.noManifest}</p>
      ),
    },
  ];
  // So near that all fit on a phone: else a button comes among them that is no tab.
  return <Tabs className="history-parts" items={tabs} tabBarGutter={16} />;
}

/** Opens the page that submits, with the manifest that was recorded. */
function CloneButton({ job }: { job: HistoryDetail }): ReactNode {
  const { t } = useText();
  const { readOnly } = useSession();
  const navigate = useNavigate();
  const [namespace] = useNamespace();
  const search = new URLSearchParams({ cloneHistory: job.uid });
  if (namespace !== "") search.set("ns", namespace);
  const why = readOnly ? t.shell.readOnlyWhy : job.manifest ? undefined : t.history.noManifest;
  return (
    <ActionButton
      text={t.job.clone}
      icon={<CopyOutlined />}
      why={why}
      onClick={() => void navigate({ pathname: "/submit", search: `?${search}` })}
    />
  );
}
