// Usage of each queue against its quota, and who waits, in order, with place and reason.

import { Alert, Button } from "antd";
import type { ReactNode } from "react";
import { useMemo } from "react";
import { useSearchParams } from "react-router";
import type { Queue, QueueList } from "../../api/types";
import { useLiveQueues } from "../../api/use_stream";
import { useNamespace } from "../../app/namespace";
import { LoadingRows } from "../../components/LoadingRows";
import { PageHeader } from "../../components/PageHeader";
import { useText } from "../../i18n";
import { allWaiting, notListed, queueKey, waitingOf } from "./entries";
import { PendingTable } from "./PendingTable";
import { QueueCard } from "./QueueCard";
import "./queues.css";

const CHOSEN = "queue";

export default function QueuesPage(): ReactNode {
  const { t } = useText();
  const list = useLiveQueues();
  const [namespace] = useNamespace();
  const count = (queues: readonly Queue[]): number =>
    namespace === ""
      ? allWaiting(queues)
      : waitingOf(queues, namespace).filter(({ entry }) => entry.state !== "reserved").length;
  return (
    <div className="queues-page">
      <PageHeader
        title={t.queues.title}
        extra={list && <span className="muted">{t.queues.waitingIn(count(list.queues))}</span>}
      />
      {list ? <Content list={list} /> : <LoadingRows />}
    </div>
  );
}

function Content({ list }: { list: QueueList }): ReactNode {
  const { t } = useText();
  const [namespace] = useNamespace();
  const isKueue = list.source === "kueue";
  const queues = useMemo(
    () =>
      list.queues.filter(
        (queue) =>
          namespace === "" || queue.namespace === undefined || queue.namespace === namespace,
      ),
    [list, namespace],
  );
  const { chosen, choose } = useChosen(queues);
  const of = useMemo(() => (chosen ? [chosen] : queues), [chosen, queues]);
  const waiting = useMemo(() => waitingOf(of, namespace), [of, namespace]);
  const sections: [string | undefined, Queue[]][] = [
    [t.queues.clusterQueues, queues.filter((one) => !one.inOrder && one.namespace === undefined)],
    [t.queues.localQueues, queues.filter((one) => one.namespace !== undefined)],
    [undefined, queues.filter((one) => one.inOrder)],
  ];
  const more = namespace === "" ? notListed(of) : 0;
  return (
    <>
      <Alert
        className="queues-note"
        type="info"
        title={isKueue ? t.queues.kueue : t.queues.builtin}
      />
      {isKueue && queues.length === 0 && <p>{t.queues.noneVisible}</p>}
      {sections.map(([title, some]) => (
        <Section key={title ?? ""} title={title} queues={some}>
          {(queue) => (
            <QueueCard
              key={queueKey(queue)}
              queue={queue}
              beside={isKueue}
              chosen={queue === chosen}
              onChoose={
                queues.length > 1
                  ? () => choose(queue === chosen ? undefined : queue)
                  : undefined
              }
            />
          )}
        </Section>
      ))}
      <section aria-label={t.queues.pending}>
        <h2 className="queues-heading">
          {chosen && !chosen.inOrder ? (
            <>
              <bdi>{t.queues.onlyOf(chosen.name)}</bdi>
              <Button size="small" onClick={() => choose(undefined)}>
                {t.queues.allQueues}
              </Button>
            </>
          ) : (
            t.queues.pending
          )}
        </h2>
        {waiting.length > 0 && <PendingTable waiting={waiting} kueue={isKueue} />}
        {waiting.length === 0 && (
          <p className="muted">
            {namespace === "" ? t.queues.none : <bdi>{t.queues.noneIn(namespace)}</bdi>}
          </p>
        )}
        {more > 0 && <p className="muted">{t.queues.notListed(more)}</p>}
      </section>
    </>
  );
}

interface SectionProps {
  title: string | undefined;
  queues: readonly Queue[];
  children: (queue: Queue) => ReactNode;
}

function Section({ title, queues, children }: SectionProps): ReactNode {
  if (queues.length === 0) return null;
  return (
    <section aria-label={title}>
      {title !== undefined && <h2 className="queues-heading">{title}</h2>}
      <div className="queues-cards">{queues.map(children)}</div>
    </section>
  );
}

/** The queue whose jobs show alone, kept in the URL. */
function useChosen(queues: readonly Queue[]): {
  chosen: Queue | undefined;
  choose: (queue: Queue | undefined) => void;
} {
  const [search, setSearch] = useSearchParams();
  const key = search.get(CHOSEN);
  const chosen = queues.find((queue) => queueKey(queue) === key);
  const choose = (queue: Queue | undefined): void =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        if (queue) after.set(CHOSEN, queueKey(queue));
        else after.delete(CHOSEN);
        return after;
      },
      { replace: true },
    );
  return { chosen, choose };
}
