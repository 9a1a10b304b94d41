// Out of the frame, to the page that the chart is of.

import { ExportOutlined } from "@ant-design/icons";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import type { JobRef } from "../../api/paths";
import { jobPage } from "../../api/paths";
import { useText } from "../../i18n";

export function PageLink({ job }: { job: JobRef }): ReactNode {
  const { t } = useText();
  const [search] = useSearchParams();
  return (
    <Link
      className="embed-link"
      to={{ pathname: jobPage(job, "training"), search: `?${search}` }}
      target="_blank"
      rel="noopener"
      title={t.embed.openPage}
      aria-label={t.embed.openPage}
    >
      <ExportOutlined aria-hidden />
    </Link>
  );
}
