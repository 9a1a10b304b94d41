// Lets the page show only to who is logged in, and asks again above it when the session ends.

import { Modal } from "antd";
import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { useCell } from "../api/cell";
import { asApiError } from "../api/problem";
import { useLogin, useSessionHolds, useSessionQuery } from "../api/queries";
import { useServices } from "../api/services";
import { ErrorPanel } from "../components/ErrorPanel";
import { useText } from "../i18n";
import { EmbedLogin } from "../pages/embed/EmbedLogin";
import { isEmbedded } from "../pages/embed/in_frame";
import { LoginForm } from "./LoginForm";
import { SettingsMenu } from "./Menus";
import { takeOneTimeCode } from "./one_time_code";
import { SessionProvider } from "./session";
import { PageLoading } from "./Shell";

/** code: of the URL's fragment, taken out of it by main.tsx before anything else. */
export function SessionGate(props: { code: string | undefined; children: ReactNode }): ReactNode {
  const { code, children } = props;
  const login = useLogin();
  const { mutate } = login;
  // The code works once: this component must not send it twice, also not in strict mode.
  const [codeState, setCodeState] = useState<"sending" | "done">(code ? "sending" : "done");
  const sessionHolds = useSessionHolds();
  useEffect(() => {
    if (code === undefined || sentCodes.has(code)) return;
    sentCodes.add(code);
    const done = (): void => setCodeState("done");
    // A used-up code must not look like the session's end to who is logged in.
    void sessionHolds().then((holds) => {
      if (holds) done();
      else mutate({ code }, { onSettled: done });
    });
  }, [code, mutate, sessionHolds]);
  if (codeState === "sending") return <LoginFrame>{<CodeLogin />}</LoginFrame>;
  return <Known login={login}>{children}</Known>;
}

const sentCodes = new Set<string>();

function CodeLogin(): ReactNode {
  const { t } = useText();
  return <p role="status">{t.login.withCode}</p>;
}

interface KnownProps {
  login: ReturnType<typeof useLogin>;
  children: ReactNode;
}

function Known({ login, children }: KnownProps): ReactNode {
  const { t } = useText();
  const { loginNeeded } = useServices();
  const needed = useCell(loginNeeded);
  const { data: session, error, refetch } = useSessionQuery();
  useCodeOfAddress(session === undefined || needed ? login.mutate : undefined);
  // A frame on somebody else's page is no place to type a token into.
  const embedded = isEmbedded(window.location.href, document.baseURI);
  if (embedded && needed) return <EmbedLogin />;
  if (session) {
    return (
      <SessionProvider value={session}>
        {children}
        <Modal
          open={needed}
          title={t.login.again}
          footer={null}
          closable={false}
          keyboard={false}
          mask={{ closable: false }}
          destroyOnHidden
        >
          <p>{t.login.againWhy}</p>
          <LoginForm login={login} />
        </Modal>
      </SessionProvider>
    );
  }
  if (error && asApiError(error).reason !== "Unauthenticated") {
    return (
      <LoginFrame>
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </LoginFrame>
    );
  }
  if (!error) return <PageLoading />;
  if (embedded) return <EmbedLogin />;
  return (
    <LoginFrame>
      <p>{t.login.intro}</p>
      <LoginForm login={login} />
    </LoginFrame>
  );
}

/** A link with a code that is pasted into this tab changes only the fragment: nothing loads. */
function useCodeOfAddress(send: ReturnType<typeof useLogin>["mutate"] | undefined): void {
  useEffect(() => {
    const take = (): void => {
      const code = takeOneTimeCode(window.location, window.history);
      // Who is logged in stays so: a used-up code must not look like the session's end.
      if (code !== undefined) send?.({ code });
    };
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, [send]);
}

function LoginFrame({ children }: { children: ReactNode }): ReactNode {
  const { t } = useText();
  useEffect(() => {
    document.title = `${t.login.title} · ${t.common.product}`;
  }, [t]);
  return (
    <main className="login">
      <div className="login-box">
        <div className="login-top">
          <h1>
            {t.common.product} <span className="muted">{t.login.title}</span>
          </h1>
          <SettingsMenu />
        </div>
        {children}
      </div>
    </main>
  );
}
