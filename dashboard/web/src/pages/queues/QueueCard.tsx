// One queue: what it is, what is wrong with it, what it uses, how many wait.

import { Button } from "antd";
import type { ReactNode } from "react";
import type { Queue } from "../../api/types";
import { Glyph } from "../../components/Glyph";
import { useText, wordFor } from "../../i18n";
import { UsageBar } from "./UsageBar";

interface Props {
  queue: Queue;
  /** Queues of Kueue stand beside it. */
  beside: boolean;
  chosen: boolean;
  /** Absent: there is no other queue. */
  onChoose: (() => void) | undefined;
}

export function QueueCard({ queue, beside, chosen, onChoose }: Props): ReactNode {
  const { t } = useText();
  const { inOrder, message, missing, usage, waiting, hidden, admitted } = queue;
  const name = inOrder ? (beside ? t.queues.inOrderBeside : t.queues.inOrder) : queue.name;
  // The others stand below the heading of their section.
  const Heading = inOrder ? "h2" : "h3";
  return (
    <article className="queues-card" aria-label={name}>
      <div className="queues-card-head">
        <Heading>
          <bdi>{name}</bdi>
        </Heading>
        <Facts queue={queue} />
      </div>
      {(missing || message !== undefined) && (
        <p className="queues-trouble">
          <Glyph name="warning" tone="warning" />
          <bdi>{missing ? t.queues.missingWhy : message}</bdi>
        </p>
      )}
      {inOrder && <p className="muted">{t.queues.inOrderWhy}</p>}
      {usage.map((one) => (
        <UsageBar key={`${one.resource}\n${one.flavor ?? ""}`} usage={one} />
      ))}
      {usage.length === 0 && !missing && <p className="muted">{t.queues.noUsage}</p>}
      <p className="queues-counts numeric">
        <span>{t.queues.running(admitted)}</span>
        <span>
          {t.queues.waiting(waiting)}
          {hidden > 0 && <span className="muted"> ({t.queues.waitingHidden(hidden)})</span>}
        </span>
        {waiting > 0 && onChoose && (
          <Button size="small" type="link" aria-pressed={chosen} onClick={onChoose}>
            {chosen ? t.queues.allQueues : t.queues.onlyThis}
          </Button>
        )}
      </p>
    </article>
  );
}

function Facts({ queue }: { queue: Queue }): ReactNode {
  const { t } = useText();
  const { namespace, clusterQueue, cohort, strategy, stopped, message, missing } = queue;
  const inactive = message !== undefined && !stopped;
  return (
    <>
      {namespace !== undefined && (
        <span className="muted">
          <bdi>{namespace}</bdi>
        </span>
      )}
      {clusterQueue !== undefined && (
        <span className="muted">
          <bdi>{t.queues.of(clusterQueue)}</bdi>
        </span>
      )}
      {cohort !== undefined && (
        <span className="muted">
          <bdi>{t.queues.cohort(cohort)}</bdi>
        </span>
      )}
      {strategy !== undefined && (
        <span className="muted">{wordFor(t.queues.strategies, strategy)}</span>
      )}
      {stopped && <span className="tag tag-warning">{t.queues.stopped}</span>}
      {inactive && <span className="tag tag-warning">{t.queues.inactive}</span>}
      {missing && <span className="tag tag-critical">{t.queues.missing}</span>}
    </>
  );
}
