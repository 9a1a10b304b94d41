// The map shows one job: which, its page, and the way back to all.

import { Alert, Button } from "antd";
import type { ReactNode } from "react";
import type { JobRef } from "../../api/paths";
import { kindOfPlural } from "../../api/paths";
import { JobLink } from "../../components/JobLink";
import { useText } from "../../i18n";

/** Of jobKey; undefined: it is none. */
function refOf(key: string): JobRef | undefined {
  const [namespace = "", plural, name = ""] = key.split("/").map(decoded);
  const kind = kindOfPlural(plural);
  return kind && { kind, namespace, name };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

interface Props {
  job: string;
  count: number;
  onAll: () => void;
}

export function JobBar({ job, count, onAll }: Props): ReactNode {
  const { t } = useText();
  const ref = refOf(job);
  const name = ref ? `${ref.namespace}/${ref.name}` : job;
  return (
    <Alert
      className="gpus-note"
      type={count > 0 ? "info" : "warning"}
      title={
        <>
          <bdi>{count > 0 ? t.gpus.ofJob(name) : t.gpus.notOfJob(name)}</bdi>{" "}
          {ref && <JobLink job={ref} />}
        </>
      }
      action={
        <Button size="small" onClick={onAll}>
          {t.gpus.showAll}
        </Button>
      }
    />
  );
}
