// What one must know about the histograms that show, or why there are none.

import { Alert } from "antd";
import type { ReactNode } from "react";
import type { EventProblem, EventsState, JobKind } from "../../../api/types";
import { useText } from "../../../i18n";
import { NoneYet } from "../NoneYet";

// Of a file that is damaged all through there are as many as records.
const PROBLEMS_MAX = 20;

export function EventsNotes({ state, empty }: { state: EventsState; empty: boolean }): ReactNode {
  const { t, format } = useText();
  const words = t.training.hist;
  const { message, bytes, bytesTotal, problems } = state;
  return (
    <>
      {bytes < bytesTotal && message === "" && (
        <p className="muted" role="status">
          {words.reading(format.percent((100 * bytes) / bytesTotal))}
        </p>
      )}
      {message !== "" && !empty && (
        <Alert type="info" showIcon title={words.noNews} description={<bdi>{message}</bdi>} />
      )}
      {problems.length > 0 && <Problems problems={problems} />}
    </>
  );
}

function Problems({ problems }: { problems: readonly EventProblem[] }): ReactNode {
  const { t, format } = useText();
  const words = t.training.hist;
  return (
    <details className="histogram-problems">
      <summary>{words.problems(problems.length)}</summary>
      <ul>
        {problems.slice(0, PROBLEMS_MAX).map(({ run, file, byte, what }, index) => (
          <li key={index}>
            <bdi>
              {file === ""
                ? `${run}: ${words.directory}`
                : words.problemAt(`${run}/${file}`, format.number(byte))}
            </bdi>
            : <bdi>{what}</bdi>
          </li>
        ))}
        {problems.length > PROBLEMS_MAX && (
          <li>{words.moreProblems(problems.length - PROBLEMS_MAX)}</li>
        )}
      </ul>
    </details>
  );
}

interface NoneProps {
  kind: JobKind;
  message: string;
  over: boolean;
}

export function NoHistograms({ kind, message, over }: NoneProps): ReactNode {
  const { t } = useText();
  const words = t.training.hist;
  return (
    <NoneYet kind={kind} words={words} over={over}>
      <h3>{words.noneTitle(over)}</h3>
      {message !== "" && (
        <p>
          {words.said} <bdi>{message}</bdi>
        </p>
      )}
    </NoneYet>
  );
}
