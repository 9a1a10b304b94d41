// Between the title and the form: the state of the checks, and all that is wrong.

import { Alert, Button } from "antd";
import type { ReactNode, Ref } from "react";
import { useSession } from "../../../app/session";
import { ErrorPanel } from "../../../components/ErrorPanel";
import { useText } from "../../../i18n";
import { CheckStatus } from "./CheckStatus";
import type { PlacedIssue } from "./ProblemList";
import { ProblemList } from "./ProblemList";
import type { Judgement } from "./use_judgement";

interface Props {
  judgement: Judgement;
  /** The list of what is wrong. */
  list: Ref<HTMLElement>;
  restored: boolean;
  onAnew: () => void;
  /** Of a copy that says it belongs to somebody else. */
  otherOwner: string | undefined;
  onOwn: () => void;
  onGo: (issue: PlacedIssue) => void;
}

export function Messages(props: Props): ReactNode {
  const { judgement, list, restored, onAnew, otherOwner, onOwn, onGo } = props;
  const { t } = useText();
  const { user } = useSession();
  const { check, issues, errors, whole, warnings } = judgement;
  const unreadable = issues.some(
    ({ span, severity }) => span !== undefined && severity === "error",
  );
  return (
    <div className="submit-messages">
      {restored && (
        <Alert
          type="info"
          showIcon
          title={t.submit.restored}
          action={
            <Button size="small" onClick={onAnew}>
              {t.submit.startAnew}
            </Button>
          }
        />
      )}
      <CheckStatus check={check} errors={errors} unreadable={unreadable} />
      {otherOwner !== undefined && (
        <Alert
          type="info"
          showIcon
          title={<bdi>{t.submit.owner.others(otherOwner)}</bdi>}
          action={
            <Button size="small" onClick={onOwn}>
              {t.submit.owner.mine(user)}
            </Button>
          }
        />
      )}
      {whole && (
        <ErrorPanel
          error={whole}
          {...(check.state === "refused" ? { title: t.submit.problems.wholeTitle } : {})}
          onRetry={check.checkNow}
        />
      )}
      {warnings.map((warning) => (
        <Alert
          key={warning}
          type="warning"
          showIcon
          title={t.submit.problems.serverWarning}
          description={
            <bdi className="mono" lang="en">
              {warning}
            </bdi>
          }
        />
      ))}
      <ProblemList issues={issues} listRef={list} onGo={onGo} />
    </div>
  );
}
