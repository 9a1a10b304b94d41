// Pasting a bearer token: the form of the login page and of the login above a page.

import { Alert, Button, Form, Input } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import { asApiError } from "../api/problem";
import type { useLogin } from "../api/queries";
import { useLoginHelp } from "../api/queries";
import { CopyButton } from "../components/CopyButton";
import { useText } from "../i18n";

// As long as a working day.
const TOKEN_LIFE = "--duration=8h";

export function LoginForm({ login }: { login: ReturnType<typeof useLogin> }): ReactNode {
  const { t } = useText();
  const [token, setToken] = useState("");
  const [missing, setMissing] = useState(false);
  const send = (): void => {
    // A token that was copied from a terminal has line ends in it.
    const clean = token.replace(/\s+/g, "");
    setMissing(clean === "");
    if (clean !== "") login.mutate({ token: clean });
  };
  return (
    <Form layout="vertical" className="login-form" onFinish={send}>
      <LoginFailure login={login} />
      <Form.Item
        label={t.login.token}
        htmlFor="token"
        extra={t.login.tokenKept}
        {...(missing ? { validateStatus: "error" as const, help: t.login.empty } : {})}
      >
        <Input.TextArea
          id="token"
          className="mono"
          rows={4}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={missing}
          value={token}
          onChange={(event) => setToken(event.target.value)}
          onPressEnter={(event) => {
            event.preventDefault();
            send();
          }}
        />
      </Form.Item>
      <Button type="primary" htmlType="submit" block loading={login.isPending}>
        {t.login.submit}
      </Button>
      <Commands />
    </Form>
  );
}

/** That work for this very cluster. */
function Commands(): ReactNode {
  const { t } = useText();
  const { data: help, error } = useLoginHelp();
  if (!help && !error) return null;
  if (help?.link !== undefined) return <Hint text={t.login.oneMachine} command={[help.link]} />;
  const own = ["kubectl -n NAMESPACE create token ACCOUNT", TOKEN_LIFE];
  const { account } = help ?? {};
  return (
    <>
      <Hint text={t.login.tokenHint} command={own} />
      {account && (
        <Hint
          text={t.login.accountHint}
          command={[`kubectl -n ${account.namespace} create token ${account.name}`, TOKEN_LIFE]}
        />
      )}
    </>
  );
}

/** A line may end between the command's parts, and within none of them. */
function Hint({ text, command }: { text: string; command: string[] }): ReactNode {
  const [first, ...more] = command;
  return (
    <>
      <p className="login-hint">{text}</p>
      <p className="code-line">
        <code>
          {first}
          {more.map((part) => (
            <span key={part} className="code-word">
              {" "}
              {part}
            </span>
          ))}
        </code>
        <CopyButton text={command.join(" ")} />
      </p>
    </>
  );
}

function LoginFailure({ login }: { login: ReturnType<typeof useLogin> }): ReactNode {
  const { t } = useText();
  if (!login.error) return null;
  const problem = asApiError(login.error);
  const withCode = login.variables && "code" in login.variables;
  const refused = problem.reason === "Unauthenticated" || problem.reason === "Forbidden";
  const why = withCode ? t.login.codeFailed : t.login.tokenFailed;
  return (
    <Alert
      className="login-failure"
      type="error"
      showIcon
      title={refused ? why : t.errors.title[problem.reason]}
      description={
        <>
          {!refused && <p>{t.errors.advice[problem.reason]}</p>}
          {t.login.reason} <bdi className="mono">{problem.message}</bdi>
        </>
      }
    />
  );
}
