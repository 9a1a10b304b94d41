// An error of the API where the content would be: what happened, what to do, what the server said.

import { Alert, Button } from "antd";
import type { ReactNode } from "react";
import { asApiError } from "../api/problem";
import { useText, wordFor } from "../i18n";

interface Props {
  error: unknown;
  /** What was attempted; instead of the error's own title. */
  title?: string;
  onRetry?: () => void;
}

export function ErrorPanel({ error, title, onRetry }: Props): ReactNode {
  const { t } = useText();
  const problem = asApiError(error);
  const what = wordFor(t.errors.title, problem.reason);
  return (
    <Alert
      type="error"
      showIcon
      title={title ?? what}
      description={
        <div className="error-panel">
          {title && <p>{what}</p>}
          <p>{wordFor(t.errors.advice, problem.reason)}</p>
          <p className="error-said">
            {t.errors.said} <bdi className="mono">{problem.message}</bdi>
          </p>
          {problem.causes.length > 0 && (
            <ul className="mono">
              {problem.causes.map((cause) => (
                <li key={`${cause.field}\n${cause.message}`}>
                  <bdi>{cause.field}</bdi>: <bdi>{cause.message}</bdi>
                </li>
              ))}
            </ul>
          )}
          {onRetry && (
            <Button size="small" onClick={onRetry}>
              {t.common.retry}
            </Button>
          )}
        </div>
      }
    />
  );
}
