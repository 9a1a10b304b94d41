// What each replica of a job that is gone used: a line of each kind that was measured.

import type { ReactNode } from "react";
import type { RecordedUsage } from "../../api/types";
import type { UsedKind } from "../../api/usage_history";
import { recordedLines } from "../../api/usage_history";
import { UsedLine } from "../../components/UsedLine";
import { useText } from "../../i18n";

export function HistoryUsage({ usage }: { usage: RecordedUsage | undefined }): ReactNode {
  const { t, format } = useText();
  const words = t.job.facts;
  const names = Object.keys(usage?.replicas ?? {}).sort(byNumber);
  const kinds: [UsedKind, string, (value: number) => string][] = [
    ["cpu", words.cpu, (value) => words.cores(format.short(value))],
    ["memoryMiB", words.memory, format.memory],
    ["gpu", t.job.pod.facts.gpuBusy, (value) => format.percent(100 * value)],
    ["gpuMemoryMiB", t.job.pod.facts.gpuMemory, format.memory],
  ];
  const shown = kinds.filter(([kind]) =>
    names.some((name) => recordedLines(usage, name, kind).length > 0),
  );
  if (shown.length === 0) return <p className="muted">{t.history.noUsage}</p>;
  return (
    // Scrolls by the keyboard, too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="history-scroll" role="region" aria-label={t.history.usage} tabIndex={0}>
      <table className="job-small-table">
        <thead>
          <tr>
            <th scope="col">{t.history.replica}</th>
            {shown.map(([kind, title]) => (
              <th key={kind} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              {shown.map(([kind, , text]) => (
                <td key={kind} className="numeric">
                  <UsedLine lines={recordedLines(usage, name, kind)} text={text} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** worker-2 before worker-10. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
