// A path that is none of ours.

import type { ReactNode } from "react";
import { Link, useLocation } from "react-router";
import { PageHeader } from "../components/PageHeader";
import { useText } from "../i18n";
import { useKeepNamespace } from "./namespace";

export function NotFound(): ReactNode {
  const { t } = useText();
  const { pathname } = useLocation();
  const keep = useKeepNamespace();
  return (
    <>
      <PageHeader title={t.shell.notFoundTitle} />
      <p>
        <bdi>{t.shell.notFoundText(pathname)}</bdi>
      </p>
      <p>
        <Link to={keep("/jobs")}>{t.shell.toJobs}</Link>
      </p>
    </>
  );
}
