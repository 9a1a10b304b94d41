// Pasting a bearer token: the form of the login page and of the login above a page.

import { Alert, Button, Form, Input } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import { asApiError } from "../api/problem";
import type { useLogin } from "../api/queries";
import { CopyButton } from "../components/CopyButton";
import { useText } from "../i18n";

// For a service account, since that works on every cluster.
const TOKEN_COMMAND = "kubectl create token default";
const TOKEN_LIFE = "--duration=8h";
// Of a cluster of `taas local up`: what its user has lost is the link.
const LINK_COMMAND = "taas dashboard";

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
      <p className="login-hint">{t.login.tokenHint}</p>
      <p className="code-line">
        <code>
          {TOKEN_COMMAND} <span className="code-word">{TOKEN_LIFE}</span>
        </code>
        <CopyButton text={`${TOKEN_COMMAND} ${TOKEN_LIFE}`} />
      </p>
      <p className="login-hint">{t.login.oneMachine}</p>
      <p className="code-line">
        <code>{LINK_COMMAND}</code>
        <CopyButton text={LINK_COMMAND} />
      </p>
    </Form>
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
