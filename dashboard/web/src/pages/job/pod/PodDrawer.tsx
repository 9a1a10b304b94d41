// One replica in detail, beside the page: what it does and why, what its containers are, what its
// program was told.

import { Drawer, Tabs } from "antd";
import type { ReactNode } from "react";
import { useMemo, useState } from "react";
import { usePod, useRecordedUsage } from "../../../api/queries";
import type { JobDetail, Replica } from "../../../api/types";
import type { UsageOverTime } from "../../../api/usage_history";
import { ErrorPanel } from "../../../components/ErrorPanel";
import { useText } from "../../../i18n";
import { replicaName } from "../names";
import { useReadAgain } from "../use_read_again";
import { ContainerList } from "./ContainerList";
import { EnvTable } from "./EnvTable";
import "./pod.css";
import { readPod } from "./pod_object";
import { ReplicaFacts } from "./ReplicaFacts";
import { programOf, readTfConfig } from "./tf_config";
import { TfConfigView } from "./TfConfigView";

interface Props {
  job: JobDetail;
  /** "": closed. */
  name: string;
  /** undefined: the job has none of that name. */
  replica: Replica | undefined;
  usage?: UsageOverTime;
  onClose: () => void;
}

export function PodDrawer({ job, name, replica, usage, onClose }: Props): ReactNode {
  const { t } = useText();
  return (
    <Drawer
      open={name !== ""}
      onClose={onClose}
      size="min(760px, 100vw)"
      destroyOnHidden
      closable={{ "aria-label": t.common.close }}
      rootClassName="job-pod"
      title={<bdi>{t.job.pod.title(name)}</bdi>}
    >
      {replica ? (
        <ReplicaDetails key={name} job={job} replica={replica} usage={usage} />
      ) : (
        <p>{job.podsVisible ? t.job.pod.gone : <bdi>{t.job.podsHidden(job.namespace)}</bdi>}</p>
      )}
    </Drawer>
  );
}

type Tab = "overview" | "env" | "tfConfig";

interface DetailsProps {
  job: JobDetail;
  replica: Replica;
  usage: UsageOverTime | undefined;
}

function ReplicaDetails({ job, replica, usage }: DetailsProps): ReactNode {
  const { t } = useText();
  const [tab, setTab] = useState<Tab>("overview");
  const hasPod = replica.pod !== undefined;
  const recorded = useRecordedUsage(job, true);
  const pod = usePod(job.namespace, replica.pod ?? "", hasPod);
  useReadAgain(versionOf(replica), () => void (hasPod && pod.refetch()));
  const view = useMemo(() => pod.data && readPod(pod.data), [pod.data]);
  const program = view && programOf(view.containers);
  const told = useMemo(() => program && readTfConfig(program.env), [program]);
  if (!hasPod) {
    return (
      <>
        <ReplicaFacts job={job} replica={replica} pod={undefined} recorded={recorded} />
        <p className="muted">{t.job.pod.noPod}</p>
      </>
    );
  }
  const trouble = pod.error && (
    <ErrorPanel
      error={pod.error}
      title={t.job.pod.unreadable}
      onRetry={() => void pod.refetch()}
    />
  );
  const waiting = !view && !pod.error && <p className="muted">{t.common.loading}</p>;
  const words = t.job.pod.tabs;
  return (
    <Tabs
      size="small"
      activeKey={tab}
      onChange={(key) => setTab(key as Tab)}
      items={[
        {
          key: "overview",
          label: words.overview,
          children: (
            <>
              <ReplicaFacts {...{ job, replica, pod: view, usage, recorded }} />
              {trouble}
              {waiting}
              {view && <ContainerList {...{ kind: job.kind, ...view, program }} />}
            </>
          ),
        },
        {
          key: "env",
          label: words.env,
          children: trouble || waiting || (view && <EnvTable containers={view.containers} />),
        },
        {
          key: "tfConfig",
          label: words.tfConfig,
          children:
            trouble ||
            waiting ||
            (view && <TfConfigView job={job} name={replicaName(replica)} told={told} />),
        },
      ]}
    />
  );
}

/** Of what the stream says of a pod; each change makes what was read of it old. */
function versionOf({ podNumber, attempt, state, restarts, ready, exitCode }: Replica): string {
  return [podNumber, attempt, state, restarts, ready, exitCode].join(" ");
}
