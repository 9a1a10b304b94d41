// What one can do with a job, and what went wrong with the last attempt.

import {
  CopyOutlined,
  DeleteOutlined,
  NodeExpandOutlined,
  PauseOutlined,
  PlayCircleOutlined,
} from "@ant-design/icons";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { jobKey } from "../../../api/paths";
import type { JobDetail } from "../../../api/types";
import { useNamespace } from "../../../app/namespace";
import { useSession } from "../../../app/session";
import { ErrorPanel } from "../../../components/ErrorPanel";
import { useText } from "../../../i18n";
import { ActionButton } from "./ActionButton";
import { DeleteDialog } from "./DeleteDialog";
import { ScaleDialog } from "./ScaleDialog";
import { useSuspend } from "./use_suspend";
import type { Change, JobChanges } from "./use_job_changes";
import type { Action } from "./why_not";
import { whyNot } from "./why_not";

interface Props {
  job: JobDetail;
  gone: boolean;
  changes: JobChanges;
}

export function JobActions({ job, gone, changes }: Props): ReactNode {
  const { t } = useText();
  const { readOnly } = useSession();
  const clone = useClone(job);
  const [dialog, setDialog] = useState<"scale" | "delete">();
  const { pending, start } = changes;
  const close = (): void => setDialog(undefined);
  const of = (action: Action) => {
    const busy = pending?.action === action;
    const others = pending !== undefined && !busy;
    return { busy, why: whyNot(action, job, { gone, readOnly, pending: others }, t) };
  };
  const text = (action: Change["action"], usual: string): string =>
    pending?.action === action ? t.job.pending[action] : usual;
  const toggle = toggleOf(job, pending);
  const suspend = useSuspend(job, () => start({ action: "suspend" }));
  return (
    <div className="job-actions" role="group" aria-label={t.job.actions}>
      <ActionButton
        {...of(toggle)}
        text={text(toggle, t.job[toggle])}
        icon={toggle === "resume" ? <PlayCircleOutlined /> : <PauseOutlined />}
        onClick={() => (toggle === "suspend" ? void suspend() : start({ action: toggle }))}
      />
      <ActionButton
        {...of("scale")}
        text={text("scale", t.job.scale)}
        icon={<NodeExpandOutlined />}
        onClick={() => setDialog("scale")}
      />
      <ActionButton {...of("clone")} text={t.job.clone} icon={<CopyOutlined />} onClick={clone} />
      <ActionButton
        {...of("delete")}
        text={text("delete", t.job.remove)}
        icon={<DeleteOutlined />}
        danger
        onClick={() => setDialog("delete")}
      />
      <ScaleDialog
        job={job}
        open={dialog === "scale" && !gone}
        onClose={close}
        onScale={(workers) => start({ action: "scale", workers })}
      />
      <DeleteDialog
        job={job}
        open={dialog === "delete" && !gone}
        onClose={close}
        onDelete={() => start({ action: "delete" })}
      />
    </div>
  );
}

/** One button for both; it keeps its meaning while its change is on the way. */
function toggleOf(job: JobDetail, pending: Change | undefined): "suspend" | "resume" {
  if (pending?.action === "suspend" || pending?.action === "resume") return pending.action;
  return job.suspended ? "resume" : "suspend";
}

export function ChangeFailure({ changes }: { changes: JobChanges }): ReactNode {
  const { t } = useText();
  const { failure, forgetFailure } = changes;
  if (!failure) return null;
  return (
    <div className="job-failure" role="alert">
      <ErrorPanel error={failure.error} title={t.job.failed[failure.action]} />
      <Button size="small" onClick={forgetFailure}>
        {t.common.close}
      </Button>
    </div>
  );
}

/** Opens the page that submits, with this job's manifest in it. */
function useClone(job: JobDetail): () => void {
  const navigate = useNavigate();
  const [namespace] = useNamespace();
  const search = new URLSearchParams({ clone: jobKey(job) });
  if (namespace !== "") search.set("ns", namespace);
  return () => void navigate({ pathname: "/submit", search: `?${search}` });
}
