// Whether the other replicas were told the same cluster: jobs hang when two were not.

import { Alert, Button } from "antd";
import type { ReactNode } from "react";
import { useEffect, useEffectEvent, useState } from "react";
import type { JobDetail } from "../../../api/types";
import { useText } from "../../../i18n";
import type { Texts } from "../../../i18n/en";
import type { Difference, Told } from "./tf_config";
import type { Comparison } from "./use_comparison";
import { COMPARED_UNASKED, toCompare, useComparison } from "./use_comparison";

interface Props {
  job: JobDetail;
  name: string;
  told: Told;
}

export function ComparisonView({ job, name, told }: Props): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  const [state, start] = useComparison({ job, name, told });
  const others = toCompare(job.replicas, name).length;
  const [unasked] = useState(others > 0 && others <= COMPARED_UNASKED);
  const begin = useEffectEvent(start);
  useEffect(() => {
    if (unasked) begin();
  }, [unasked]);
  if (others === 0) return <p className="muted">{words.compareNobody}</p>;
  return (
    <div className="job-compare">
      {state.phase !== "idle" && <Result state={state} />}
      {state.phase !== "running" && (
        <Button size="small" onClick={start}>
          {state.phase === "idle" ? words.compare : words.compareAgain}
        </Button>
      )}
    </div>
  );
}

function Result({ state }: { state: Comparison }): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  const { phase, different, same, done, asked, others, unread } = state;
  const clean = phase === "done" && different.length === 0 && same > 0;
  return (
    <div role="status">
      {phase === "running" && <p>{words.comparing(done, asked)}</p>}
      {clean && <Alert type="success" showIcon title={words.compareSame(same)} />}
      {different.length > 0 && <Different state={state} />}
      {phase === "done" && asked < others && <p>{words.compareSampled(asked, others)}</p>}
      {unread.length > 0 && <p className="muted">{words.compareUnread(unread.length)}</p>}
    </div>
  );
}

// The first ones say what kind of difference it is.
const SHOWN_MAX = 20;

function Different({ state }: { state: Comparison }): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  const shown = state.different.slice(0, SHOWN_MAX);
  const more = state.different.length - shown.length;
  return (
    <Alert
      type="warning"
      showIcon
      title={words.compareDiffer(state.different.length)}
      description={
        <>
          <p>{words.compareWhy}</p>
          <ul className="job-differences">
            {shown.map(({ name, difference }) => (
              <li key={name}>
                <b>{name}</b>: <bdi>{differenceText(difference, t)}</bdi>
              </li>
            ))}
          </ul>
          {more > 0 && <p>{words.andMore(more)}</p>}
        </>
      }
    />
  );
}

// Of one replica; a job of thousands that was scaled differs in hundreds.
const NAMED_MAX = 5;

function differenceText({ moved, onlyMine, onlyTheirs, otherList }: Difference, t: Texts): string {
  const words = t.job.pod;
  if (otherList) return words.compareOtherMap(otherList.theirs);
  const list = (names: readonly string[]): string => {
    const first = names.slice(0, NAMED_MAX).join(", ");
    const more = names.length - NAMED_MAX;
    return more > 0 ? `${first} ${words.andMore(more)}` : first;
  };
  const parts = moved
    .slice(0, NAMED_MAX)
    .map(({ name, mine, theirs }) => words.compareMoved(name, mine, theirs));
  if (moved.length > NAMED_MAX) parts.push(words.andMore(moved.length - NAMED_MAX));
  if (onlyMine.length > 0) parts.push(words.compareOnlyHere(list(onlyMine)));
  if (onlyTheirs.length > 0) parts.push(words.compareOnlyThere(list(onlyTheirs)));
  return parts.join("; ");
}
