// What the table shows instead of rows.

import { Button, Empty, Skeleton } from "antd";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";
import { useKeepNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { CopyButton } from "../../components/CopyButton";
import { useText } from "../../i18n";

const COMMANDS = "kubectl apply -f examples/mnist.yaml\nkubectl get trainingjobs -w";

export function NoJobs({ namespace }: { namespace: string }): ReactNode {
  const { t } = useText();
  const { readOnly } = useSession();
  const keep = useKeepNamespace();
  const navigate = useNavigate();
  return (
    <Empty
      className="jobs-empty"
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={
        <>
          <h2>{namespace === "" ? t.jobs.noJobs : t.jobs.noJobsIn(namespace)}</h2>
          <p className="muted">{t.jobs.noJobsHint}</p>
        </>
      }
    >
      <div className="code-line jobs-empty-code">
        <pre>{COMMANDS}</pre>
        <CopyButton text={COMMANDS} />
      </div>
      {!readOnly && (
        <Button type="primary" onClick={() => void navigate(keep("/submit"))}>
          {t.jobs.submit}
        </Button>
      )}
    </Empty>
  );
}

export function NoMatch({ onClear }: { onClear: () => void }): ReactNode {
  const { t } = useText();
  return (
    <Empty
      className="jobs-empty"
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={t.jobs.noMatch}
    >
      <Button onClick={onClear}>{t.jobs.clearFilter}</Button>
    </Empty>
  );
}

export function JobsLoading(): ReactNode {
  const { t } = useText();
  return (
    <div className="jobs-loading" role="status" aria-label={t.common.loading}>
      <Skeleton active title={false} paragraph={{ rows: 10, width: "100%" }} />
    </div>
  );
}
