// Asks before a job is deleted, and says what goes and what stays.

import { Modal } from "antd";
import type { ReactNode } from "react";
import type { JobDetail } from "../../../api/types";
import { useSession } from "../../../app/session";
import { useText } from "../../../i18n";

interface Props {
  job: JobDetail;
  open: boolean;
  onClose: () => void;
  onDelete: () => void;
}

const ALIVE: readonly string[] = ["Pending", "Running", "Waiting", "Unknown", "Terminating"];

/** Also where pods may not be listed: their roles' counts are the job's. */
function podsOf(job: JobDetail): number {
  if (job.podsVisible) return job.replicas.filter(({ state }) => ALIVE.includes(state)).length;
  return job.roles.reduce((sum, { ready }) => sum + ready, 0);
}

export function DeleteDialog({ job, open, onClose, onDelete }: Props): ReactNode {
  const { t, format } = useText();
  const { historyDays } = useSession();
  const ttl = job.finishedFor?.ttlSeconds;
  const confirm = (): void => {
    onDelete();
    onClose();
  };
  return (
    <Modal
      open={open}
      title={<bdi>{t.job.deleteTitle(`${job.namespace}/${job.name}`)}</bdi>}
      okText={t.job.remove}
      okButtonProps={{ danger: true }}
      cancelText={t.common.cancel}
      onOk={confirm}
      onCancel={onClose}
      destroyOnHidden
      closable={{ "aria-label": t.common.close }}
    >
      <ul className="job-delete">
        <li>{t.job.deletePods(podsOf(job), job.gpus)}</li>
        <li>{t.job.deleteFiles}</li>
        <li>{historyDays > 0 ? t.job.deleteHistory(historyDays) : t.job.deleteNoHistory}</li>
        {ttl !== undefined && <li>{t.job.deleteTtl(format.span(ttl))}</li>}
      </ul>
      <p>{t.job.deleteFinal}</p>
    </Modal>
  );
}
