// The frame of all pages but the embedded charts.

import { Spin, Tooltip } from "antd";
import type { MouseEvent, ReactNode } from "react";
import { Suspense, useRef } from "react";
import { Link, Outlet, useLocation } from "react-router";
import { useText } from "../i18n";
import { ClusterBanner, ConnectionMark } from "./ConnectionStatus";
import { ErrorBoundary } from "./ErrorBoundary";
import { SettingsMenu, UserMenu } from "./Menus";
import { useKeepNamespace } from "./namespace";
import { NamespaceSwitch } from "./NamespaceSwitch";
import { Nav } from "./Nav";
import { useSession } from "./session";

export function Shell(): ReactNode {
  const { t } = useText();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  // A link to "#main" would be resolved against <base> and leave the page.
  const skip = (event: MouseEvent): void => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <div className="shell">
      <Header>
        <a className="skip-link" href={pathname} onClick={skip}>
          {t.shell.skip}
        </a>
      </Header>
      <ClusterBanner />
      <main className="main" ref={main} tabIndex={-1}>
        <ErrorBoundary resetKey={pathname}>
          <Suspense fallback={<PageLoading />}>
            <Outlet />
          </Suspense>
        </ErrorBoundary>
      </main>
    </div>
  );
}

function Header({ children }: { children: ReactNode }): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const session = useSession();
  return (
    <header className="header">
      {children}
      <Link className="brand" to={keep("/jobs")}>
        <img src={new URL("favicon.svg", document.baseURI).href} alt="" width="20" height="20" />
        <span className="brand-name">{t.common.product}</span>
      </Link>
      <Nav />
      <div className="header-right">
        {session.local && <span className="chip chip-wide">{t.shell.localCluster}</span>}
        {session.readOnly && (
          <Tooltip title={t.shell.readOnlyWhy}>
            <span className="chip">{t.shell.readOnly}</span>
          </Tooltip>
        )}
        <ConnectionMark />
        <NamespaceSwitch />
        <SettingsMenu />
        <UserMenu />
      </div>
    </header>
  );
}

export function PageLoading(): ReactNode {
  const { t } = useText();
  return (
    <div className="page-loading" role="status">
      <Spin /> <span>{t.common.loading}</span>
    </div>
  );
}
