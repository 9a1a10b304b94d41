// One node: its name, what is wrong with it, and its squares.

import type { ReactNode } from "react";
import { memo } from "react";
import { useText } from "../../i18n";
import type { Cell, NodeCells } from "./cells";
import { labelOf } from "./describe";
import { drawn } from "./layout";
import { Square } from "./Square";

interface Props {
  one: NodeCells;
  perLine: number;
  /** Of the square that the keyboard is on; -1: it is elsewhere. */
  current: number;
  matches: ((cell: Cell) => boolean) | undefined;
}

export const NodeTile = memo(function NodeTile(props: Props): ReactNode {
  const { one, perLine, current, matches } = props;
  const text = useText();
  const { t } = text;
  const { node, cells, held, hidden, free } = one;
  const taken = held + hidden;
  const all = node.capacity ?? taken;
  const shown = drawn(one);
  return (
    <div role="row" className="gpus-tile" data-node={node.name}>
      <div
        role="rowheader"
        className="gpus-tile-head"
        aria-label={
          node.capacity === undefined
            ? `${node.name}: ${t.gpus.tileHeld(taken)}`
            : t.gpus.tileLabel(node.name, taken, all, free)
        }
      >
        <bdi className="gpus-tile-name" title={node.name}>
          {node.name}
        </bdi>
        <NodeFlags one={one} />
        <span className="gpus-tile-count numeric">
          {node.capacity === undefined ? t.gpus.tileHeld(taken) : t.gpus.tile(taken, all)}
        </span>
      </div>
      <div
        role="presentation"
        className="gpus-squares"
        style={{ gridTemplateColumns: `repeat(${perLine}, minmax(0, 1fr))` }}
      >
        {cells.slice(0, shown).map((cell) => (
          <Square
            key={cell.index}
            cell={cell}
            label={labelOf(cell, text)}
            current={cell.index === current}
            dimmed={matches !== undefined && !matches(cell)}
          />
        ))}
      </div>
      {cells.length > shown && (
        <span className="gpus-tile-more muted">{t.gpus.more(cells.length - shown)}</span>
      )}
    </div>
  );
});

export function NodeFlags({ one }: { one: NodeCells }): ReactNode {
  const { t } = useText();
  const { ready, schedulable, simulated, capacity } = one.node;
  return (
    <>
      {simulated && (
        <span className="gpus-flag" title={t.gpus.simulatedWhy}>
          {t.gpus.simulated}
        </span>
      )}
      {!ready && <span className="gpus-flag gpus-flag-bad">{t.gpus.notReady}</span>}
      {ready && !schedulable && (
        <span className="gpus-flag gpus-flag-warn" title={t.gpus.cordonedWhy}>
          {t.gpus.cordoned}
        </span>
      )}
      {one.over && capacity !== undefined && (
        <span className="gpus-flag gpus-flag-bad">{t.gpus.over}</span>
      )}
    </>
  );
}
