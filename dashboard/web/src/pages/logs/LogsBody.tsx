// Below the job's tabs: what to read, the lines, and how far they have come.

import type { InputRef } from "antd";
import { Alert, Empty } from "antd";
import type { ReactNode } from "react";
import { useMemo, useRef } from "react";
import { Link } from "react-router";
import { useCell } from "../../api/cell";
import type { JobRef } from "../../api/paths";
import type { JobDetail } from "../../api/types";
import { useKeepNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { useTheme } from "../../app/theme";
import { ErrorPanel } from "../../components/ErrorPanel";
import { useText } from "../../i18n";
import { LogView } from "./LogView";
import { LogsToolbar } from "./LogsToolbar";
import { replicaVariables } from "./replica_look";
import { SearchBar } from "./SearchBar";
import type { LogSession } from "./session";
import { StatusLine } from "./StatusLine";
import { useLogKeys } from "./use_log_keys";
import type { LogsView } from "./use_logs_view";

interface Props {
  job: JobRef;
  live: JobDetail | null | undefined;
  view: LogsView;
  session: LogSession;
}

export function LogsBody({ job, live, view, session }: Props): ReactNode {
  const { t } = useText();
  const { dark } = useTheme();
  useCell(session.summary);
  const variables = useMemo(() => replicaVariables(dark), [dark]);
  const searchInput = useRef<InputRef>(null);
  useLogKeys(session, view, searchInput);
  const { status } = session.feed;
  const empty = session.store.length === 0;
  if (empty && live?.access.logs === false) {
    return <Alert type="error" showIcon title={t.logs.unreadable} description={t.logs.noAccess} />;
  }
  if (empty && status.phase === "failed") {
    if (status.error.reason === "NotFound") return <GoneJob job={job} />;
    return (
      <ErrorPanel
        error={status.error}
        title={t.logs.unreadable}
        onRetry={() => session.feed.again()}
      />
    );
  }
  return (
    <div className="logs-body" style={variables}>
      <div className="logs-tools">
        <LogsToolbar job={job} live={live} view={view} session={session} />
        <SearchBar view={view} session={session} input={searchInput} />
      </div>
      {status.phase === "failed" && (
        <ErrorPanel
          error={status.error}
          title={t.logs.unreadable}
          onRetry={() => session.feed.again()}
        />
      )}
      <LogView
        session={session}
        wrap={view.wrap}
        times={view.times}
        start={startOf(live, session)}
        suspended={live?.state === "Suspended"}
      />
      <StatusLine view={view} session={session} />
    </div>
  );
}

/** What relative times count from. */
function startOf(live: JobDetail | null | undefined, { store }: LogSession): number {
  if (live?.started !== undefined) return Date.parse(live.started);
  return store.line(store.first)?.time ?? 0;
}

function GoneJob({ job }: { job: JobRef }): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  const { historyDays } = useSession();
  const history = { pathname: "/history", search: `?${new URLSearchParams({ q: job.name })}` };
  return (
    <Empty
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={
        <>
          <h2>{t.logs.goneTitle}</h2>
          <p>{t.logs.goneText}</p>
        </>
      }
    >
      <p className="logs-links">
        <Link to={keep("/jobs")}>{t.shell.toJobs}</Link>
        {historyDays > 0 && <Link to={history}>{t.logs.inHistory}</Link>}
      </p>
    </Empty>
  );
}
