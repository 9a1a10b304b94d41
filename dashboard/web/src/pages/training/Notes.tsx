// What one must know about the curves that show, or why there are none.

import { Alert } from "antd";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { JobRef } from "../../api/paths";
import type { JobKind, SeriesAnswer } from "../../api/types";
import { useSession } from "../../app/session";
import { ErrorPanel } from "../../components/ErrorPanel";
import { useText } from "../../i18n";
import { NoneYet } from "./NoneYet";
import type { ComparedRun } from "./use_runs";

interface Props {
  job: JobRef;
  answer: SeriesAnswer;
  /** The job does not exist. */
  gone: boolean;
  over: boolean;
}

export function SeriesNote({ job, answer, gone, over }: Props): ReactNode {
  const { t } = useText();
  const words = t.training;
  const { historyDays } = useSession();
  if (gone) {
    const history = { pathname: "/history", search: `?${new URLSearchParams({ q: job.name })}` };
    return (
      <Alert
        type="warning"
        showIcon
        className="training-note"
        title={words.gone}
        description={historyDays > 0 && <Link to={history}>{words.lookInHistory}</Link>}
      />
    );
  }
  if (answer.archived) {
    return <Alert type="info" showIcon className="training-note" title={words.archived(over)} />;
  }
  if (answer.message === undefined || answer.source !== undefined) return null;
  return (
    <Alert
      type="info"
      showIcon
      className="training-note"
      title={over ? words.overSilent : words.silent}
      description={<bdi>{answer.message}</bdi>}
    />
  );
}

export function NoCurves({ kind, over }: { kind: JobKind; over: boolean }): ReactNode {
  const { t } = useText();
  return (
    <NoneYet kind={kind} words={t.training} over={over}>
      <h2>{t.training.noneTitle(over)}</h2>
    </NoneYet>
  );
}

export function ComparedNotes({ compared }: { compared: readonly ComparedRun[] }): ReactNode {
  const { t } = useText();
  const failed = compared.filter(({ state }) => state === "failed");
  const empty = compared.filter(
    ({ run, state }) =>
      state === "ready" && [run.series, run.evaluator].every((all) => !Object.keys(all).length),
  );
  return (
    <>
      {failed.map(({ run, error }) => (
        <ErrorPanel key={run.key} error={error} title={t.training.unreadableOf(run.label)} />
      ))}
      {empty.map(({ run }) => (
        <p key={run.key} className="muted">
          <bdi>{t.training.noneOf(run.label)}</bdi>
        </p>
      ))}
    </>
  );
}
