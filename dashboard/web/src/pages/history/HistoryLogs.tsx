// The last lines that each replica of a job wrote.

import { Select } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import type { HistoryLog as Log } from "../../api/types";
import { CopyButton } from "../../components/CopyButton";
import { useText } from "../../i18n";
import { plainText } from "../logs/ansi";
import { overwritten } from "../logs/overwrite";

// Of a replica that had several pods there are the lines of each.
function keyOf({ replica, podNumber }: Log): string {
  return `${replica} ${podNumber ?? ""}`;
}

export function HistoryLogs({ logs }: { logs: readonly Log[] }): ReactNode {
  const { t } = useText();
  const [chosen, setChosen] = useState<string>();
  const log = logs.find((one) => keyOf(one) === chosen) ?? logs[0];
  const nameOf = ({ replica, podNumber }: Log): string =>
    podNumber === undefined ? replica : t.history.ofPod(replica, podNumber);
  if (!log) return <p className="muted">{t.history.noLogs}</p>;
  const text = log.lines.map(({ t: at, l }) => `${at} ${l}\n`).join("");
  return (
    <>
      <div className="history-log-bar">
        <label htmlFor="history-replica">{t.history.logsOf}</label>
        <Select
          id="history-replica"
          size="small"
          value={keyOf(log)}
          onChange={setChosen}
          showSearch
          options={logs.map((one) => ({ value: keyOf(one), label: nameOf(one) }))}
          popupMatchSelectWidth={false}
        />
        {log.lines.length > 0 && <CopyButton text={text} label={t.history.copyLog} />}
        {log.truncated && <span className="muted">{t.history.truncated}</span>}
      </div>
      {log.lines.length === 0 ? (
        <p className="muted">{t.history.noLines}</p>
      ) : (
        <Lines log={log} />
      )}
    </>
  );
}

function Lines({ log }: { log: Log }): ReactNode {
  const { format } = useText();
  const times = log.lines.map(({ t }) => format.time(t)).join("\n");
  const lines = log.lines.map(({ l }) => plainText(overwritten(l))).join("\n");
  return (
    // Scrolls by the keyboard, too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="job-code" role="region" aria-label={log.replica} tabIndex={0}>
      <pre className="job-code-numbers" aria-hidden="true">
        {times}
      </pre>
      <pre className="job-code-text">{lines}</pre>
    </div>
  );
}
