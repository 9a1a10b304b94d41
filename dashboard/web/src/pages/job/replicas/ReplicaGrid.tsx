// One row per role, one square per replica: a window of lines over as many as there are. A grid by
// ARIA: one square is a stop of the tab key, arrows go from there.

import type { ReactNode } from "react";
import { useId, useMemo, useRef, useState } from "react";
import { sameJson } from "../../../api/same";
import type { Replica, RoleCount } from "../../../api/types";
import { useKeptFocus } from "../../../components/use_kept_focus";
import { useText } from "../../../i18n";
import { replicaName } from "../names";
import { GridLineView } from "./GridLineView";
import type { GridLine } from "./grid_lines";
import { gridLines, lineOf } from "./grid_lines";
import type { Mark } from "./mark";
import { SquarePeek, usePeek } from "./SquarePeek";
import { squareEvents } from "./square_events";
import { placesOf, useWidth } from "./square_places";
import { useGridWindow } from "./use_grid_window";

interface Props {
  replicas: readonly Replica[];
  roles: readonly RoleCount[];
  mark: Mark;
  onReplica: (name: string) => void;
}

export function ReplicaGrid({ replicas, roles, mark, onReplica }: Props): ReactNode {
  const { t } = useText();
  const hint = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const places = useMemo(() => placesOf(width, replicas.length), [width, replicas.length]);
  const lines = useLines(replicas, places.columns);
  const names = useMemo(() => replicas.map(replicaName), [replicas]);
  const square = useKeptFocus(names, scroller, '[role="gridcell"][tabindex="0"]');
  const currentLine = lineOf(lines, square.at);
  const inSight = useGridWindow({ lines, places, currentLine, scroller });
  const peek = usePeek();
  const on = squareEvents({ replicas, lines, square, inSight, peek, onReplica });
  const peeked =
    peek.name === "" ? undefined : replicas.find((replica) => replicaName(replica) === peek.name);
  return (
    <div className={`job-squares job-squares-${places.size}`}>
      <div className="job-squares-scroller" ref={scroller} onScroll={peek.hide}>
        <div
          role="grid"
          aria-label={t.job.gridLabel(replicas.length)}
          aria-describedby={hint}
          aria-rowcount={lines.length}
          aria-colcount={places.columns + 1}
          className="job-canvas"
          style={{ height: inSight.height }}
          {...on}
        >
          {inSight.items.map(({ index, start, key }) => {
            const line = lines[index];
            if (!line) return null;
            const current = index === currentLine ? square.at - line.from : -1;
            const all = { line, index, top: start, places, replicas, roles, mark, current };
            return <GridLineView key={key} {...all} />;
          })}
        </div>
      </div>
      <p id={hint} className="visually-hidden">
        {t.job.gridKeys}
      </p>
      {peeked && peek.box && <SquarePeek replica={peeked} box={peek.box} />}
    </div>
  );
}

/** The same lines as long as there are the same roles with as many replicas. */
function useLines(replicas: readonly Replica[], columns: number): GridLine[] {
  const [lines, setLines] = useState(() => gridLines(replicas, columns));
  const now = gridLines(replicas, columns);
  if (sameJson(now, lines)) return lines;
  setLines(now);
  return now;
}
