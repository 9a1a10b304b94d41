// What the squares mean, with counts. Each entry is a switch: on, it lets only those stand out.

import type { ReactNode } from "react";
import { useMemo } from "react";
import type { Health, Replica } from "../../../api/types";
import { Glyph } from "../../../components/Glyph";
import { useText } from "../../../i18n";
import type { Mark } from "./mark";
import { countReplicas, sameMark } from "./mark";
import { knownState, REPLICA_STATES, squareClass, squareGlyph } from "./square_glyph";

const RINGS: readonly Health[] = ["critical", "warning"];

interface Props {
  replicas: readonly Replica[];
  mark: Mark;
  onMark: (mark: Mark) => void;
}

export function Legend({ replicas, mark, onMark }: Props): ReactNode {
  const { t } = useText();
  const counts = useMemo(() => countReplicas(replicas), [replicas]);
  const toggle = (one: Mark): void => onMark(sameMark(mark, one) ? undefined : one);
  return (
    <div className="job-legend" role="group" aria-label={t.job.legend}>
      {RINGS.map((health) => (
        <Entry
          key={health}
          text={t.common.health[health]}
          sample={<span className={`job-sample job-square job-ring-${health}`} />}
          count={counts.health.get(health) ?? 0}
          on={sameMark(mark, { by: "health", health })}
          onToggle={() => toggle({ by: "health", health })}
        />
      ))}
      {REPLICA_STATES.map((state) => (
        <Entry
          key={state}
          text={t.common.replicaState[knownState(state)]}
          sample={
            <span className={`job-sample ${squareClass({ state, health: "ok" })}`}>
              <Glyph name={squareGlyph(state)} />
            </span>
          }
          count={counts.states.get(state) ?? 0}
          on={sameMark(mark, { by: "state", state })}
          onToggle={() => toggle({ by: "state", state })}
        />
      ))}
    </div>
  );
}

interface EntryProps {
  text: string;
  sample: ReactNode;
  count: number;
  on: boolean;
  onToggle: () => void;
}

function Entry({ text, sample, count, on, onToggle }: EntryProps): ReactNode {
  const { t, format } = useText();
  if (count === 0) return null;
  return (
    <button
      type="button"
      className="job-legend-entry"
      aria-pressed={on}
      aria-label={t.job.legendOf(text, count)}
      onClick={onToggle}
    >
      <span aria-hidden="true">{sample}</span>
      {text} <b className="numeric">{format.number(count)}</b>
    </button>
  );
}
