// The pages of one job, as links: for its overview, its logs and its training.

import type { ReactNode } from "react";
import type { To } from "react-router";
import { Link } from "react-router";
import type { JobRef } from "../../api/paths";
import { jobPage } from "../../api/paths";
import { useKeepNamespace, useNamespace } from "../../app/namespace";
import { useText } from "../../i18n";
import "./job.css";

interface Props {
  job: JobRef;
  current: "overview" | "logs" | "training" | "yaml";
}

export function JobTabs({ job, current }: Props): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const [namespace] = useNamespace();
  const yaml = new URLSearchParams({ ...(namespace === "" ? {} : { ns: namespace }), tab: "yaml" });
  const tabs: { key: Props["current"]; text: string; to: To }[] = [
    { key: "overview", text: t.job.overview, to: keep(jobPage(job)) },
    { key: "logs", text: t.job.logs, to: keep(jobPage(job, "logs")) },
    { key: "training", text: t.job.training, to: keep(jobPage(job, "training")) },
    { key: "yaml", text: t.job.yaml, to: { pathname: jobPage(job), search: `?${yaml}` } },
  ];
  return (
    <nav className="job-tabs" aria-label={t.job.tabs}>
      {tabs.map(({ key, text, to }) => (
        <Link key={key} to={to} aria-current={key === current ? "page" : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
