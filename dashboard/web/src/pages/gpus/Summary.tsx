// The strip above the map. Allocated and used stand apart: a share of what there is, and an average
// of what is measured.

import type { ReactNode } from "react";
import type { GpuMap } from "../../api/types";
import { useText } from "../../i18n";
import { UsedBar } from "./Square";
import type { Totals } from "./totals";
import { gpusOf } from "./totals";
import type { View } from "./view";

interface Props {
  map: GpuMap;
  totals: Totals;
  view: View;
  setView: (change: Partial<View>) => void;
}

export function Summary({ map, totals, view, setView }: Props): ReactNode {
  const { t, format } = useText();
  const pending = gpusOf(map.pending) + (map.hiddenPending ?? 0);
  const { gpus, nodes, allocated, used, measured, idle } = totals;
  return (
    <section className="gpus-summary" aria-label={t.gpus.summary}>
      <Figure
        value={format.number(gpus)}
        name={map.nodesVisible ? t.gpus.total(nodes) : t.gpus.visible(nodes)}
        note={totals.unavailable > 0 && t.gpus.unavailableCount(totals.unavailable)}
      />
      {map.nodesVisible && gpus > 0 && (
        <Figure
          value={format.percent((allocated / gpus) * 100)}
          name={t.gpus.allocated}
          why={t.gpus.allocatedWhy}
          note={t.gpus.allocatedOf(format.number(allocated), format.number(gpus))}
          bar={allocated / gpus}
        />
      )}
      <Figure
        value={used === undefined ? "—" : format.percent(used * 100)}
        name={t.gpus.used}
        why={t.gpus.usedWhy}
        note={used === undefined ? t.gpus.notMeasured : t.gpus.usedOf(measured)}
        bar={used}
        measured
      />
      {map.nodesVisible && <Free totals={totals} />}
      <Figure
        value={format.number(idle)}
        name={t.gpus.idle}
        why={t.gpus.idleWhy}
        pressed={view.idle}
        onClick={() => setView({ idle: !view.idle })}
      />
      <Figure
        value={format.number(pending)}
        name={t.gpus.pending}
        note={pending > 0 && t.gpus.pendingPods(map.pending.length)}
      />
    </section>
  );
}

// The largest sizes of blocks, in words; how scattered the rest is the title says.
const BLOCKS_SHOWN = 2;

function Free({ totals }: { totals: Totals }): ReactNode {
  const { t, format } = useText();
  const { free, usable, blocks } = totals;
  const [largest] = blocks;
  return (
    <>
      <Figure
        value={format.number(free)}
        name={t.gpus.free}
        note={free !== usable && t.gpus.freeOf(format.number(usable))}
      />
      {largest && (
        <Figure
          value={format.number(largest.size)}
          name={t.gpus.largest}
          why={blocks.map(({ size, nodes }) => t.gpus.block(size, nodes)).join("\n")}
          note={
            <span className="gpus-blocks numeric">
              {blocks.slice(0, BLOCKS_SHOWN).map(({ size, nodes }) => (
                <span key={size}>{t.gpus.block(size, nodes)}</span>
              ))}
              {blocks.length > BLOCKS_SHOWN && "…"}
            </span>
          }
        />
      )}
    </>
  );
}

interface FigureProps {
  value: string;
  name: string;
  why?: string;
  note?: ReactNode;
  /** 0 … 1 */
  bar?: number | undefined;
  /** Without a value its bar is dotted. */
  measured?: boolean;
  pressed?: boolean;
  onClick?: () => void;
}

function Figure(props: FigureProps): ReactNode {
  const { value, name, why, note, bar, measured = false, pressed, onClick } = props;
  const content = (
    <>
      <span className="gpus-figure-value numeric">
        {value}
        {bar !== undefined || measured ? <UsedBar used={bar} /> : null}
      </span>
      <span className="gpus-figure-name">{name}</span>
      {note && <span className="gpus-figure-note numeric">{note}</span>}
    </>
  );
  if (!onClick) {
    return (
      <div className="gpus-figure" title={why}>
        {content}
      </div>
    );
  }
  return (
    <button
      type="button"
      className="gpus-figure"
      title={why}
      aria-pressed={pressed}
      onClick={onClick}
    >
      {content}
    </button>
  );
}
