// Pods that ask for GPUs and have no node: here as far as they are many; order and reasons are on
// the page of queues.

import type { ReactNode } from "react";
import { Link } from "react-router";
import { jobPage } from "../../api/paths";
import type { GpuHolder, GpuMap } from "../../api/types";
import { useKeepNamespace, useNamespace } from "../../app/namespace";
import { Age } from "../../components/Age";
import { JobLink } from "../../components/JobLink";
import { useText } from "../../i18n";

const SHOWN_MAX = 20;

interface Props {
  map: GpuMap;
  namespace: string;
}

export function Waiting({ map, namespace }: Props): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const hidden = map.hiddenPending ?? 0;
  const pods = map.pending.filter((pod) => namespace === "" || pod.namespace === namespace);
  if (pods.length === 0 && hidden === 0) return null;
  return (
    <section className="gpus-waiting" aria-label={t.gpus.waiting}>
      <h2>{t.gpus.waiting}</h2>
      <ul>
        {pods.slice(0, SHOWN_MAX).map((pod) => (
          <li key={`${pod.namespace}/${pod.pod}`}>
            <b className="numeric">{t.common.gpus(pod.count)}</b>
            <PodName pod={pod} />
            {pod.job && <JobLink job={pod.job} full />}
            <span className="muted">
              <Age since={pod.since} />
            </span>
          </li>
        ))}
      </ul>
      {pods.length > SHOWN_MAX && <p>{t.gpus.waitingMore(pods.length - SHOWN_MAX)}</p>}
      {hidden > 0 && <p className="muted">{t.gpus.waitingHidden(hidden)}</p>}
      <Link to={keep("/queues")}>{t.gpus.toQueues}</Link>
    </section>
  );
}

/** Leads to the details of its replica on the job's page: why it waits. */
function PodName({ pod: { namespace, pod, job, role, index } }: { pod: GpuHolder }): ReactNode {
  const [chosen] = useNamespace();
  const name = (
    <bdi>
      {namespace}/{pod}
    </bdi>
  );
  if (!job) return name;
  const search = new URLSearchParams();
  if (chosen !== "") search.set("ns", chosen);
  if (role !== undefined && index !== undefined) search.set("replica", `${role}-${index}`);
  return <Link to={{ pathname: jobPage(job), search: `?${search}` }}>{name}</Link>;
}
