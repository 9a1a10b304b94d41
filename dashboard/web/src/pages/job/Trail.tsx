// Where a job is: the list of jobs, the namespace.

import type { ReactNode } from "react";
import { Link } from "react-router";
import { useKeepNamespace } from "../../app/namespace";
import { useText } from "../../i18n";

export function Trail({ namespace }: { namespace: string }): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const search = `?${new URLSearchParams({ ns: namespace })}`;
  return (
    <>
      <Link to={keep("/jobs")}>{t.jobs.title}</Link> /{" "}
      <Link to={{ pathname: "/jobs", search }}>
        <bdi>{namespace}</bdi>
      </Link>
    </>
  );
}
