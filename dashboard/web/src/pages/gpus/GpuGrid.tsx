// The map: nodes as tiles, GPUs as squares in them; only what is in sight is in the document. A
// grid by ARIA: each node is a row, the arrow keys move over squares as they lie on the screen.

import type { Range } from "@tanstack/react-virtual";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { CSSProperties, ReactNode, RefObject } from "react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTheme } from "../../app/theme";
import { useText } from "../../i18n";
import { CellCard } from "./CellCard";
import type { Cell, NodeCells } from "./cells";
import { GroupHeading } from "./GroupHeading";
import { useGridHandlers } from "./grid_events";
import type { Row, Sizes, Spot } from "./layout";
import { cellAt, firstPlace, placeOf, rowsOf, sizesOf } from "./layout";
import { NodeTile } from "./NodeTile";
import { useCard } from "./use_card";
import { mainOf, useFrame } from "./use_main_scroll";
import type { Group, Grouping } from "./view";

// Rows beyond the edges, so that fast scrolling shows no gaps.
const OVERSCAN = 4;

interface Props {
  groups: readonly Group[];
  by: Grouping;
  nodes: readonly NodeCells[];
  matches: ((cell: Cell) => boolean) | undefined;
  onJob: (job: string) => void;
}

export function GpuGrid({ groups, by, nodes, matches, onJob }: Props): ReactNode {
  const { t } = useText();
  const { dark } = useTheme();
  const box = useRef<HTMLDivElement>(null);
  const frame = useFrame(box);
  const sizes = useMemo(() => sizesOf(frame.width, nodes), [frame.width, nodes]);
  const rows = useMemo(() => rowsOf(groups, sizes), [groups, sizes]);
  const [spot, setSpot] = useState<Spot>();
  const place = placeOf(rows, spot) ?? firstPlace(rows);
  const current = cellAt(rows, place);
  const virtualizer = useRows(rows, box, frame.margin, place?.row ?? -1);
  const control = useCard();
  const shown = control.card && cellAt(rows, placeOf(rows, control.card.spot));
  const focus = useFocus(box, control.hide);
  const handlers = useGridHandlers({
    rows,
    sizes,
    control,
    spot,
    setSpot,
    scrollTo: (row) => {
      focus.ask();
      virtualizer.scrollToIndex(row);
    },
    onJob,
  });
  const { onBlur, ...onGrid } = handlers;
  return (
    // The card belongs to the map: the focus may go from a square into it.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className={dark ? "gpus-map gpus-dark" : "gpus-map"} onBlur={onBlur}>
      <div
        ref={box}
        role="grid"
        aria-label={t.gpus.mapLabel}
        className="gpus-grid"
        style={{ height: virtualizer.getTotalSize() }}
        onPointerLeave={control.leave}
        {...onGrid}
      >
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          const style = { transform: `translateY(${start - frame.margin}px)` };
          if (row.kind === "heading") {
            return <GroupHeading key={row.key} group={row.group} by={by} style={style} />;
          }
          return (
            <Tiles
              key={row.key}
              nodes={row.nodes}
              sizes={sizes}
              current={current}
              matches={matches}
              style={style}
            />
          );
        })}
      </div>
      {control.card && shown && (
        <CellCard cell={shown} card={control.card} control={control} onJob={onJob} />
      )}
    </div>
  );
}

interface TilesProps {
  nodes: readonly NodeCells[];
  sizes: Sizes;
  current: Cell | undefined;
  matches: Props["matches"];
  style: CSSProperties;
}

function Tiles({ nodes, sizes, current, matches, style }: TilesProps): ReactNode {
  const gridTemplateColumns = `repeat(${sizes.columns}, minmax(0, 1fr))`;
  return (
    <div role="rowgroup" className="gpus-tiles" style={{ ...style, gridTemplateColumns }}>
      {nodes.map((one) => (
        <NodeTile
          key={one.node.name}
          one={one}
          perLine={sizes.perLine}
          current={current?.node === one.node ? current.index : -1}
          matches={matches}
        />
      ))}
    </div>
  );
}

function useRows(
  rows: readonly Row[],
  box: RefObject<HTMLElement | null>,
  scrollMargin: number,
  at: number,
) {
  // The keyboard's row stays, so that its focus is not lost when it scrolls out of sight.
  const rangeExtractor = useCallback(
    (range: Range) => {
      const window = defaultRangeExtractor(range);
      if (at < 0 || at >= range.count || window.includes(at)) return window;
      return [...window, at].sort((a, b) => a - b);
    },
    [at],
  );
  // eslint-disable-next-line react-hooks/incompatible-library -- we do not use the compiler
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => mainOf(box.current),
    estimateSize: (index) => rows[index]?.height ?? 0,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: OVERSCAN,
    scrollMargin,
    rangeExtractor,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rows]);
  return virtualizer;
}

/** Moves the focus to the keyboard's square once it is there; scrolling hides the card. */
function useFocus(box: RefObject<HTMLElement | null>, hide: () => void): { ask: () => void } {
  const asked = useRef(false);
  useEffect(() => {
    if (!asked.current) return;
    asked.current = false;
    const square = box.current?.querySelector<HTMLElement>('[role="gridcell"][tabindex="0"]');
    // The map has scrolled to it already.
    square?.focus({ preventScroll: true });
  });
  useEffect(() => {
    const main = mainOf(box.current);
    const onScroll = (): void => {
      // A key that moves on has scrolled, and shows the card of where it comes to.
      if (!asked.current) hide();
    };
    main?.addEventListener("scroll", onScroll, { passive: true });
    return () => main?.removeEventListener("scroll", onScroll);
  }, [box, hide]);
  return useMemo(() => ({ ask: () => (asked.current = true) }), []);
}
