// Why an all-reduce is slow: a bar of each replica's time, the words for it, and who is slowest.

import type { ReactNode } from "react";
import { useId } from "react";
import type { RankTime } from "../../../api/types";
import { useText } from "../../../i18n";
import { partsOf } from "./shares";
import "./trained.css";

interface Props {
  ranks: readonly RankTime[];
  slowest: string | undefined;
  onReplica: (name: string) => void;
}

export function RankTimes({ ranks, slowest, onReplica }: Props): ReactNode {
  const { t } = useText();
  const heading = useId();
  const words = t.job.trained;
  return (
    <section className="job-section" aria-labelledby={heading}>
      <div className="job-section-head">
        <h2 id={heading}>{words.ranks}</h2>
      </div>
      <p className="job-rank-said">
        <b>{slowest === undefined ? words.noneSlow : words.slowest(slowest)}</b>{" "}
        <span className="muted">{words.ranksAbout}</span>
      </p>
      <ul className="job-ranks">
        {ranks.map((rank) => (
          <Rank
            key={rank.replica}
            rank={rank}
            slowest={rank.replica === slowest}
            onReplica={onReplica}
          />
        ))}
      </ul>
    </section>
  );
}

interface RankProps {
  rank: RankTime;
  slowest: boolean;
  onReplica: (name: string) => void;
}

function Rank({ rank, slowest, onReplica }: RankProps): ReactNode {
  const { t, format } = useText();
  const words = t.job.trained;
  const parts = partsOf(rank, words);
  return (
    <li className="job-rank">
      <span className="job-rank-name">
        <button
          type="button"
          className="job-inline-link"
          onClick={() => onReplica(rank.replica)}
        >
          <bdi>{rank.replica}</bdi>
        </button>
        {slowest && <b className="job-rank-slowest"> {words.isSlowest}</b>}
      </span>
      {/* The words beside it say the same. */}
      <span className="job-rank-bar" aria-hidden="true">
        {parts.map(({ name, percent }) => (
          <span key={name} className={`job-rank-${name}`} style={{ width: `${percent}%` }} />
        ))}
      </span>
      <span className="job-rank-words numeric">
        {parts.map(({ name, word, percent }) => (
          <span key={name} className="job-rank-part">
            <span className={`job-rank-key job-rank-${name}`} aria-hidden="true" />
            {words.of(word, format.percent(percent))}
          </span>
        ))}
        <span className="muted">
          {words.hidden(format.percent(rank.hidden * 100))} ·{" "}
          {words.perStep(format.size(rank.bytesPerStep))}
        </span>
      </span>
    </li>
  );
}
