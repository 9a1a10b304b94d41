// The heading of a group of nodes in the map.

import type { CSSProperties, ReactNode } from "react";
import { useMemo } from "react";
import { productName } from "../../components/product";
import { useText } from "../../i18n";
import { totalsOf } from "./totals";
import type { Group, Grouping } from "./view";

interface Props {
  group: Group;
  by: Grouping;
  style: CSSProperties;
}

export function GroupHeading({ group, by, style }: Props): ReactNode {
  const { t, format } = useText();
  const totals = useMemo(() => totalsOf(group.nodes), [group.nodes]);
  const name = by === "free" ? t.gpus.freeGroup(Number(group.name)) : productName(group.name, t);
  return (
    <div role="row" className="gpus-heading" style={style}>
      <div role="rowheader">
        <b>
          <bdi>{name === "" ? t.gpus.noProduct : name}</bdi>
        </b>{" "}
        <span className="muted numeric">
          {t.gpus.groupSummary(
            totals.nodes,
            format.number(totals.allocated),
            format.number(totals.gpus),
          )}
        </span>
      </div>
    </div>
  );
}
