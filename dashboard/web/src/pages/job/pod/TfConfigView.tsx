// What the replica's program was told of its cluster, and whether the others were told the same.

import { Alert } from "antd";
import type { ReactNode } from "react";
import type { JobDetail } from "../../../api/types";
import { CopyButton } from "../../../components/CopyButton";
import { useText } from "../../../i18n";
import { ComparisonView } from "./ComparisonView";
import type { Told } from "./tf_config";

interface Props {
  job: JobDetail;
  name: string;
  told: Told | undefined;
}

export function TfConfigView({ job, name, told }: Props): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  if (!told) return <p>{words.tfNone}</p>;
  const task = told.task && `${told.task.type}-${told.task.index}`;
  return (
    <>
      {told.list === "unreadable" && <Alert type="warning" showIcon title={words.tfUnreadable} />}
      {task === name && (
        <p>
          <bdi>{words.tfTask(name)}</bdi>
        </p>
      )}
      {task !== undefined && task !== name && (
        <Alert type="error" showIcon title={<bdi>{words.tfWrongTask(task, name)}</bdi>} />
      )}
      {told.configMap !== undefined && <InConfigMap job={job} map={told.configMap} />}
      {told.sparse && <p>{words.tfSparse}</p>}
      {told.list !== "unreadable" && <ComparisonView job={job} name={name} told={told} />}
      {told.cluster.size > 0 && <Cluster told={told} name={name} />}
      <div className="job-raw-head">
        <h3>{words.tfRaw}</h3>
        <CopyButton text={told.raw} label={words.copyRaw} />
      </div>
      <pre className="job-raw">{told.raw}</pre>
    </>
  );
}

function InConfigMap({ job, map }: { job: JobDetail; map: string }): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  const command = `kubectl get configmap ${map} -n ${job.namespace} -o jsonpath='{.data.cluster}'`;
  return (
    <>
      <p>
        <bdi>{words.tfInMap(map)}</bdi>
      </p>
      <p>{words.tfReadMap}</p>
      <div className="code-line">
        <code>{command}</code>
        <CopyButton text={command} label={words.copyCommand} />
      </div>
    </>
  );
}

// A list that stands in the pod has some 160 addresses at most; a longer one is none of ours.
const ROWS_MAX = 400;

function Cluster({ told, name }: { told: Told; name: string }): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  const rows = [...told.cluster].slice(0, ROWS_MAX);
  const more = told.cluster.size - rows.length;
  return (
    <>
      <h3>{words.tfCluster(told.cluster.size)}</h3>
      <table className="job-small-table">
        <thead>
          <tr>
            <th scope="col">{words.tfReplica}</th>
            <th scope="col">{words.tfAddress}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([member, address]) => (
            <tr key={member} className={member === name ? "job-own" : undefined}>
              <th scope="row">
                <bdi>{member}</bdi>{" "}
                {member === name && <span className="job-own-mark">{words.tfThis}</span>}
              </th>
              <td className="mono">
                <bdi>{address}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p className="muted">{words.tfCut(more)}</p>}
    </>
  );
}
