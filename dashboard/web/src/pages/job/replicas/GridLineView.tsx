// One line of squares. Squares are memoised by what they show: each event of the stream brings all
// replicas anew, and few of them differ.

import type { ReactNode } from "react";
import { memo } from "react";
import type { Replica, RoleCount } from "../../../api/types";
import { Glyph } from "../../../components/Glyph";
import { useText, wordFor } from "../../../i18n";
import { useSaid } from "../../../i18n/said";
import { replicaName } from "../names";
import type { GridLine } from "./grid_lines";
import type { Mark } from "./mark";
import { isMarked } from "./mark";
import { squareClass, squareGlyph } from "./square_glyph";
import { squareLabel } from "./square_label";
import type { Places } from "./square_places";

interface Props {
  line: GridLine;
  index: number;
  top: number;
  places: Places;
  replicas: readonly Replica[];
  roles: readonly RoleCount[];
  mark: Mark;
  /** Within the line; −1: the keyboard is in another one. */
  current: number;
}

export function GridLineView(props: Props): ReactNode {
  const { line, index, top, places, replicas, roles, mark, current } = props;
  const { t } = useText();
  const { said } = useSaid();
  const height = line.first ? places.first : places.pitch;
  const role = roles.find((one) => one.role === line.role);
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      className={places.beside ? "job-line job-line-beside" : "job-line"}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      {line.first && <RoleLabel name={line.role} count={role} />}
      <div role="none" className="job-line-squares">
        {replicas.slice(line.from, line.to).map((replica, place) => (
          <Square
            key={replica.index}
            name={replicaName(replica)}
            label={squareLabel(replica, t, said)}
            index={replica.index}
            state={replica.state}
            health={replica.health}
            pale={!isMarked(replica, mark)}
            column={place + 2}
            current={place === current}
            large={places.size === "large"}
          />
        ))}
      </div>
    </div>
  );
}

function RoleLabel(props: { name: string; count: RoleCount | undefined }): ReactNode {
  const { name, count } = props;
  const { t } = useText();
  return (
    <div role="rowheader" aria-colindex={1} className="job-line-label">
      {wordFor(t.common.role, name)}{" "}
      {count && (
        <span className="numeric muted">
          {count.ready}/{count.desired}
        </span>
      )}
    </div>
  );
}

interface SquareProps {
  name: string;
  label: string;
  index: number;
  state: Replica["state"];
  health: Replica["health"];
  pale: boolean;
  column: number;
  current: boolean;
  large: boolean;
}

const Square = memo(function Square(props: SquareProps): ReactNode {
  const { name, label, index, state, health, pale, column, current, large } = props;
  return (
    <div
      role="gridcell"
      aria-colindex={column}
      aria-label={label}
      tabIndex={current ? 0 : -1}
      data-replica={name}
      className={`${squareClass({ state, health })}${pale ? " job-square-pale" : ""}`}
    >
      <Glyph name={squareGlyph(state)} />
      {large && <span aria-hidden="true">{index}</span>}
    </div>
  );
});
