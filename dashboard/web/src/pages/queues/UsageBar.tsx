// What is used of a quota: own, borrowed, and where the quota ends.

import type { ReactNode } from "react";
import type { QueueUsage } from "../../api/types";
import type { Format } from "../../i18n/format";
import { productName } from "../../components/product";
import { useText } from "../../i18n";

const BYTES = new Set(["memory", "ephemeral-storage"]);
const MEBI = 1024 * 1024;

function amountOf(resource: string, value: number, format: Format): string {
  return BYTES.has(resource) ? format.memory(value / MEBI) : format.number(value);
}

export function UsageBar({ usage }: { usage: QueueUsage }): ReactNode {
  const { t, format } = useText();
  const { resource, flavor, used, nominal, borrowed = 0, borrowingLimit } = usage;
  const amount = (value: number): string => amountOf(resource, value, format);
  const isOver = used !== undefined && nominal !== undefined && used - borrowed > nominal;
  return (
    <div className="queues-usage">
      <span className="queues-usage-name">
        <bdi>{flavor === undefined ? resource : productName(flavor, t)}</bdi>
        {flavor !== undefined && (
          <span className="muted">
            {" "}
            <bdi>{resource}</bdi>
          </span>
        )}
      </span>
      <span className="queues-usage-amount numeric">
        {used === undefined && t.queues.unknown}
        {used === undefined && nominal !== undefined && ` · ${t.queues.quota(amount(nominal))}`}
        {used !== undefined &&
          (nominal === undefined
            ? t.queues.used(amount(used))
            : t.queues.usedOf(amount(used), amount(nominal)))}
        {borrowed > 0 && (
          <b className="queues-borrowed"> · {t.queues.borrowed(amount(borrowed))}</b>
        )}
        {isOver && <b className="queues-over"> · {t.queues.over}</b>}
        {borrowed === 0 && borrowingLimit !== undefined && borrowingLimit > 0 && (
          <span className="muted"> · {t.queues.mayBorrow(amount(borrowingLimit))}</span>
        )}
      </span>
      {used !== undefined && nominal !== undefined && (
        <Bar used={used} nominal={nominal} borrowed={borrowed} />
      )}
    </div>
  );
}

interface BarProps {
  used: number;
  nominal: number;
  borrowed: number;
}

function Bar({ used, nominal, borrowed }: BarProps): ReactNode {
  const whole = Math.max(nominal, used);
  const share = (value: number): string => `${whole > 0 ? (value / whole) * 100 : 0}%`;
  return (
    <span className="queues-bar" aria-hidden="true">
      <span className="queues-bar-own" style={{ width: share(Math.max(0, used - borrowed)) }} />
      <span className="queues-bar-borrowed" style={{ width: share(Math.min(used, borrowed)) }} />
      {used > nominal && <span className="queues-bar-end" style={{ left: share(nominal) }} />}
    </span>
  );
}
