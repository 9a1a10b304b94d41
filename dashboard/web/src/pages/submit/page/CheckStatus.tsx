// What is known of the manifest as a whole: whether it can be read, and what the server would say.

import {
  CheckCircleFilled,
  CloseCircleFilled,
  LoadingOutlined,
  MinusCircleOutlined,
} from "@ant-design/icons";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useText } from "../../../i18n";
import type { ServerCheck } from "../state/use_server_check";

interface Props {
  check: ServerCheck;
  /** Known without the server. */
  errors: number;
  unreadable: boolean;
}

export function CheckStatus({ check, errors, unreadable }: Props): ReactNode {
  const { t, format } = useText();
  const words = t.submit.status;
  const { state, verdict } = check;
  const asked = state === "accepted" || state === "refused";
  return (
    <div className="submit-status">
      <span role="status" className={`submit-status-text submit-status-${toneOf(state, errors)}`}>
        <StatusIcon state={state} errors={errors} />
        <span>{statusText(words, { check, errors, unreadable })}</span>
      </span>
      {asked && verdict && <span className="muted">{words.at(format.time(verdict.at))}</span>}
      {asked && (
        <Button type="link" size="small" onClick={check.checkNow}>
          {words.checkAgain}
        </Button>
      )}
    </div>
  );
}

type State = ServerCheck["state"];

function toneOf(state: State, errors: number): string {
  if (errors > 0 || state === "refused") return "error";
  return state === "accepted" ? "ok" : "muted";
}

function StatusIcon({ state, errors }: { state: State; errors: number }): ReactNode {
  if (errors > 0 || state === "refused") return <CloseCircleFilled aria-hidden />;
  if (state === "accepted") return <CheckCircleFilled aria-hidden />;
  if (state === "checking") return <LoadingOutlined aria-hidden />;
  return <MinusCircleOutlined aria-hidden />;
}

type Words = ReturnType<typeof useText>["t"]["submit"]["status"];

function statusText(words: Words, { check, errors, unreadable }: Props): string {
  if (unreadable) return words.unreadable;
  if (check.state === "checking") return words.checking;
  if (check.state === "accepted") {
    const count = check.verdict?.warnings.length ?? 0;
    return count > 0 ? words.acceptedWarnings(count) : words.accepted;
  }
  if (check.state === "refused") return words.refused;
  if (check.state === "unanswered") return words.unanswered;
  return errors > 0 ? words.wrong : words.unasked;
}
