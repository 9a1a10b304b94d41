// All that is wrong, in one list above the form: each leads to its field, or to its line.

import { CloseCircleFilled, WarningFilled } from "@ant-design/icons";
import { Button } from "antd";
import type { ReactNode, Ref } from "react";
import { useState } from "react";
import { useText } from "../../../i18n";
import type { Issue } from "../checks/issues";
import { issueKey } from "../checks/issues";
import { pathText } from "../manifest/path";
import { CALM_MS, useDelayed } from "../state/use_delayed";

export interface PlacedIssue extends Issue {
  /** In the text; 0: nowhere. */
  line: number;
  from: number;
  to: number;
}

interface Props {
  issues: readonly PlacedIssue[];
  /** Focused when the user asks what is wrong. */
  listRef: Ref<HTMLElement>;
  onGo: (issue: PlacedIssue) => void;
}

// More at once would push the form off the screen.
const SHOWN = 4;

export function ProblemList({ issues: now, listRef, onGo }: Props): ReactNode {
  const { t } = useText();
  const issues = useDelayed(now, CALM_MS);
  const [all, setAll] = useState(false);
  if (issues.length === 0) return null;
  const words = t.submit.problems;
  const errors = issues.filter(({ severity }) => severity === "error").length;
  const title = words.title(errors, issues.length - errors);
  const shown = all ? issues : issues.slice(0, SHOWN);
  const tone = errors > 0 ? "error" : "warning";
  return (
    <section
      ref={listRef}
      tabIndex={-1}
      className={`submit-problems submit-problems-${tone}`}
      aria-label={title}
    >
      <h2>{title}</h2>
      <ul>
        {shown.map((issue, index) => (
          // A server may say the same twice.
          <li key={`${issueKey(issue)} ${index}`}>
            <Problem issue={issue} onGo={onGo} />
          </li>
        ))}
      </ul>
      {shown.length < issues.length && (
        <Button type="link" size="small" onClick={() => setAll(true)}>
          {words.more(issues.length - shown.length)}
        </Button>
      )}
    </section>
  );
}

function Problem({ issue, onGo }: { issue: PlacedIssue; onGo: Props["onGo"] }): ReactNode {
  const { t } = useText();
  const words = t.submit.problems;
  const where = pathText(issue.path);
  return (
    <button type="button" className="submit-problem" onClick={() => onGo(issue)}>
      {issue.severity === "error" ? (
        <CloseCircleFilled className="submit-error" aria-label={words.error} />
      ) : (
        <WarningFilled className="submit-warning" aria-label={words.warning} />
      )}
      <span>
        {where !== "" && <bdi className="mono submit-problem-path">{where}</bdi>}{" "}
        <bdi lang={issue.foreign ? "en" : undefined}>{issue.text}</bdi>{" "}
        {issue.line > 0 && <span className="muted">({words.line(issue.line)})</span>}
      </span>
    </button>
  );
}
