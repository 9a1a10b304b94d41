// Asks before something is done with several jobs, says what will happen to which of them, does it,
// and tells the result of each.

import { Button, Modal } from "antd";
import type { ReactNode } from "react";
import { memo, useMemo, useRef, useState } from "react";
import { ApiError } from "../../api/problem";
import { useServices } from "../../api/services";
import type { JobRow } from "../../api/types";
import { useSession } from "../../app/session";
import { useAnnounce } from "../../components/Announcer";
import type { GlyphName } from "../../components/Glyph";
import { Glyph } from "../../components/Glyph";
import { useText, wordFor } from "../../i18n";
import type { Action, Result } from "./bulk";
import { runBulk, spared } from "./bulk";

// Nobody reads more; thousands of lines would make the dialog slow.
const LINES = 200;
// Results come as fast as the cluster answers.
const SHOW_MS = 100;

interface Props {
  action: Action;
  rows: readonly JobRow[];
  onCancel: () => void;
  /** After it has been done. */
  onDone: () => void;
}

export function BulkDialog({ action, rows, onCancel, onDone }: Props): ReactNode {
  const { t } = useText();
  const { api } = useServices();
  const announce = useAnnounce();
  const [phase, setPhase] = useState<"asking" | "running" | "done">("asking");
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const stopped = useRef(false);
  const affected = useMemo(() => rows.filter((row) => !spared(action, row)), [action, rows]);
  const start = async (): Promise<void> => {
    setPhase("running");
    const collected = new Map<string, Result>();
    const show = (): void => setResults(new Map(collected));
    const timer = setInterval(show, SHOW_MS);
    await runBulk({
      api,
      action,
      rows: affected,
      onResult: (uid, result) => collected.set(uid, result),
      isStopped: () => stopped.current,
    });
    clearInterval(timer);
    show();
    setPhase("done");
    const all = [...collected.values()];
    const failed = all.filter((result) => result instanceof ApiError).length;
    announce(t.jobs.outcome(all.length - failed, failed));
  };
  const stop = (): void => {
    stopped.current = true;
  };
  const done = [...results.values()].filter((result) => result === "done").length;
  const title = {
    asking: affected.length === 0 ? t.jobs.askNone[action] : t.jobs.ask[action](affected.length),
    running: t.jobs.underWay[action](affected.length),
    done: t.jobs.isDone[action](done),
  }[phase];
  const close = phase === "done" ? onDone : onCancel;
  return (
    <Modal
      open
      title={title}
      onCancel={phase === "running" ? stop : close}
      closable={phase !== "done"}
      mask={{ closable: false }}
      footer={
        <Footer
          phase={phase}
          action={action}
          empty={affected.length === 0}
          onCancel={onCancel}
          onStart={() => void start()}
          onStop={stop}
          onDone={onDone}
        />
      }
    >
      {phase === "asking" && affected.length > 0 && <Effect action={action} />}
      {phase === "done" && <Outcome results={results} left={affected.length - results.size} />}
      <Lines rows={rows} action={action} results={results} />
    </Modal>
  );
}

function Effect({ action }: { action: Action }): ReactNode {
  const { t } = useText();
  const { historyDays } = useSession();
  return (
    <>
      <p>{t.jobs.effect[action]}</p>
      {action === "delete" && (
        <p>{historyDays > 0 ? t.jobs.deleteHistory(historyDays) : t.jobs.deleteNoHistory}</p>
      )}
    </>
  );
}

interface LinesProps {
  rows: readonly JobRow[];
  action: Action;
  results: ReadonlyMap<string, Result>;
}

function Lines({ rows, action, results }: LinesProps): ReactNode {
  const { t } = useText();
  // Those that failed are what one looks for.
  const isFailed = (row: JobRow): boolean => results.get(row.uid) instanceof ApiError;
  const failed = rows.filter(isFailed);
  const rest = rows.filter((row) => !isFailed(row));
  const shown = [...failed, ...rest].slice(0, LINES);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, by keyboard too
    <ul className="jobs-bulk-list" tabIndex={0} aria-label={t.jobs.title}>
      {shown.map((row) => (
        <BulkLine key={row.uid} row={row} action={action} result={results.get(row.uid)} />
      ))}
      {rows.length > shown.length && <li>{t.jobs.andMore(rows.length - shown.length)}</li>}
    </ul>
  );
}

interface FooterProps {
  phase: "asking" | "running" | "done";
  action: Action;
  empty: boolean;
  onCancel: () => void;
  onStart: () => void;
  onStop: () => void;
  onDone: () => void;
}

function Footer(props: FooterProps): ReactNode {
  const { phase, action, empty, onCancel, onStart, onStop, onDone } = props;
  const { t } = useText();
  if (phase === "done") {
    return (
      <Button type="primary" onClick={onDone}>
        {t.common.close}
      </Button>
    );
  }
  if (phase === "running") return <Button onClick={onStop}>{t.jobs.stop}</Button>;
  return (
    <>
      <Button onClick={onCancel}>{t.common.cancel}</Button>
      <Button type="primary" danger={action === "delete"} disabled={empty} onClick={onStart}>
        {t.jobs.actions[action]}
      </Button>
    </>
  );
}

interface OutcomeProps {
  results: ReadonlyMap<string, Result>;
  /** Not begun, because of "stop". */
  left: number;
}

function Outcome({ results, left }: OutcomeProps): ReactNode {
  const { t } = useText();
  const all = [...results.values()];
  const failed = all.filter((result) => result instanceof ApiError).length;
  return (
    <p>
      {t.jobs.outcome(all.length - failed, failed)} {left > 0 && t.jobs.notBegun(left)}
    </p>
  );
}

interface LineProps {
  row: JobRow;
  action: Action;
  result: Result | undefined;
}

const BulkLine = memo(function BulkLine({ row, action, result }: LineProps): ReactNode {
  const { t } = useText();
  const why = spared(action, row);
  let glyph: GlyphName = "pending";
  let tone = "muted";
  let said: string = t.common.state[row.state];
  if (why) {
    glyph = "unknown";
    said = t.jobs.spared[why];
  } else if (result instanceof ApiError) {
    glyph = "failed";
    tone = "critical";
    said = `${wordFor(t.errors.title, result.reason)}: ${result.message}`;
  } else if (result === "done") {
    glyph = "succeeded";
    tone = "ok";
    said = t.jobs.did[action];
  } else if (result === "running") {
    glyph = "restarting";
    tone = "accent";
    said = t.jobs.doing;
  }
  return (
    <li className={why ? "muted" : undefined}>
      <Glyph name={glyph} tone={tone} />
      <bdi className="jobs-bulk-name">
        {row.namespace}/{row.name}
      </bdi>
      <bdi className="jobs-bulk-said">{said}</bdi>
    </li>
  );
});
