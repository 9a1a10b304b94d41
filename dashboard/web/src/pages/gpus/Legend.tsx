// What the squares mean.

import type { ReactNode } from "react";
import { useTheme } from "../../app/theme";
import { useText } from "../../i18n";
import type { Cell } from "./cells";
import { Square } from "./Square";

const NODE = {
  name: "",
  ready: true,
  schedulable: true,
  product: "",
  simulated: false,
  hidden: 0,
  holders: [],
  devices: [],
};
const HOLDER = {
  namespace: "",
  pod: "mnist",
  count: 1,
  devices: [],
  source: "count" as const,
  state: "Running" as const,
  idle: false,
};
const BASE: Cell = { kind: "held", node: NODE, index: 0, holders: [HOLDER] };

export function Legend(): ReactNode {
  const { t } = useText();
  const { dark } = useTheme();
  const device = { id: "", health: "Healthy" as const };
  const entries: [Cell, string][] = [
    [BASE, t.gpus.legendHeld],
    [{ ...BASE, device: { ...device, utilization: 0.6 } }, t.gpus.legendUsed],
    [{ ...BASE, holders: [{ ...HOLDER, idle: true }] }, t.gpus.legendIdle],
    [{ ...BASE, device: { ...device, health: "Unhealthy" } }, t.gpus.legendUnhealthy],
    [{ ...BASE, kind: "free", holders: [] }, t.gpus.cell.free],
    [{ ...BASE, kind: "hidden", holders: [] }, t.gpus.cell.hidden],
    [{ ...BASE, kind: "unavailable", holders: [] }, t.gpus.cell.unavailable],
  ];
  return (
    <details className={dark ? "gpus-legend gpus-dark" : "gpus-legend"}>
      <summary>{t.gpus.legend}</summary>
      <ul>
        {entries.map(([cell, words]) => (
          <li key={words}>
            <span className="gpus-legend-square" aria-hidden="true">
              <Square cell={cell} label="" current={false} dimmed={false} />
            </span>
            {words}
          </li>
        ))}
        <li className="muted">{t.gpus.keys}</li>
      </ul>
    </details>
  );
}
