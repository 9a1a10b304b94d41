// All replicas of a job: as squares, of which a thousand show at once what is wrong where, or as a
// table.

import { Alert, Segmented } from "antd";
import type { ReactNode } from "react";
import { memo, useId, useState } from "react";
import type { JobDetail, Replica } from "../../../api/types";
import { useText } from "../../../i18n";
import { Legend } from "./Legend";
import type { Mark } from "./mark";
import { isMarked } from "./mark";
import { ReplicaGrid } from "./ReplicaGrid";
import { ReplicaTable } from "./ReplicaTable";
import "./replicas.css";

interface Props {
  job: JobDetail;
  view: "grid" | "table";
  onView: (view: "grid" | "table") => void;
  onReplica: (name: string) => void;
}

export const Replicas = memo(function Replicas(props: Props): ReactNode {
  const { job, view, onView, onReplica } = props;
  const { t } = useText();
  const heading = useId();
  const [mark, setMark] = useState<Mark>();
  const { replicas } = job;
  // The last one of a kind may get well while one looks at that kind.
  const present = replicas.some((replica) => isMarked(replica, mark)) ? mark : undefined;
  return (
    <section className="job-section" aria-labelledby={heading}>
      <div className="job-section-head">
        <h2 id={heading}>{t.job.replicas}</h2>
        {replicas.length > 0 && (
          <Segmented<"grid" | "table">
            size="small"
            aria-label={t.job.view}
            value={view}
            onChange={onView}
            options={[
              { value: "grid", label: t.job.asGrid },
              { value: "table", label: t.job.asTable },
            ]}
          />
        )}
      </div>
      {replicas.length === 0 ? (
        <NoReplicas job={job} />
      ) : (
        <>
          <Legend replicas={replicas} mark={present} onMark={setMark} />
          <View {...{ job, replicas, view, mark: present, onReplica }} />
        </>
      )}
    </section>
  );
});

interface ViewProps {
  job: JobDetail;
  replicas: readonly Replica[];
  view: "grid" | "table";
  mark: Mark;
  onReplica: (name: string) => void;
}

function View({ job, replicas, view, mark, onReplica }: ViewProps): ReactNode {
  if (view === "table") {
    const rows = replicas.filter((replica) => isMarked(replica, mark));
    return <ReplicaTable replicas={rows} onReplica={onReplica} />;
  }
  return (
    <ReplicaGrid replicas={replicas} roles={job.roles} mark={mark} onReplica={onReplica} />
  );
}

function NoReplicas({ job }: { job: JobDetail }): ReactNode {
  const { t } = useText();
  if (job.podsVisible) return <p className="muted">{t.job.noReplicas}</p>;
  return <Alert type="info" showIcon title={<bdi>{t.job.podsHidden(job.namespace)}</bdi>} />;
}
