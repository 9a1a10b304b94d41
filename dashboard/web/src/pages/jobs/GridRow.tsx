// One row of the table: where it stands, whether it is selected or has the keyboard, its message in
// full. What it shows is in JobCells, which a change of place does not render again.

import type { ReactNode } from "react";
import { memo } from "react";
import type { JobRow } from "../../api/types";
import type { ColumnKey } from "./columns";
import type { CellActions } from "./JobCells";
import { JobCells } from "./JobCells";
import { isMessageCut, MessagePeek } from "./MessagePeek";

/** Of the whole table, the same in each render. */
export interface RowActions extends CellActions {
  onFocus: (uid: string) => void;
  showPeek: (uid: string, now: boolean) => void;
  hidePeek: () => void;
  hidePeekSoon: () => void;
}

interface Props {
  row: JobRow;
  /** The same in each render, while they do not change. */
  columns: readonly ColumnKey[];
  index: number;
  top: number;
  height: number;
  selected: boolean;
  current: boolean;
  peek: "none" | "above" | "below";
  actions: RowActions;
}

export const GridRow = memo(function GridRow(props: Props): ReactNode {
  const { row, columns, index, top, height, selected, current, peek, actions } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      tabIndex={current ? 0 : -1}
      className={peek === "none" ? "jobs-row jobs-places" : "jobs-row jobs-places jobs-raised"}
      style={{ top, height }}
      onFocus={(event) => {
        actions.onFocus(row.uid);
        const byKey = event.currentTarget.matches(":focus-visible");
        if (byKey && isMessageCut(event.currentTarget)) actions.showPeek(row.uid, true);
      }}
      onBlur={actions.hidePeek}
      onPointerOver={(event) => {
        const onMessage = (event.target as Element).closest(".jobs-message, .jobs-peek");
        if (onMessage && event.pointerType === "mouse") {
          if (isMessageCut(event.currentTarget)) actions.showPeek(row.uid, false);
        } else if (event.pointerType === "mouse") {
          actions.hidePeekSoon();
        }
      }}
    >
      <JobCells {...{ row, columns, selected, current, actions }} />
      {peek !== "none" && <MessagePeek text={row.message} above={peek === "above"} />}
    </div>
  );
});
