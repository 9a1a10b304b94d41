// The logs of all replicas of a job in one order, and what is being written.

import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { useParams } from "react-router";
import { useCell } from "../../api/cell";
import type { JobRef } from "../../api/paths";
import { kindOfPlural } from "../../api/paths";
import { useServices } from "../../api/services";
import type { JobDetail } from "../../api/types";
import { useLiveJob } from "../../api/use_stream";
import { NotFound } from "../../app/NotFound";
import { useText } from "../../i18n";
import { JobHead } from "../job/JobHead";
import "./colours.css";
import { LogsBody } from "./LogsBody";
import "./logs.css";
import { newSearcher } from "./searcher";
import { LogSession } from "./session";
import type { LogsView } from "./use_logs_view";
import { useLogsView } from "./use_logs_view";

export default function LogsPage(): ReactNode {
  const { namespace = "", plural, name = "" } = useParams();
  const kind = kindOfPlural(plural);
  if (!kind) return <NotFound />;
  const job = { kind, namespace, name };
  return <JobLogs key={`${kind} ${namespace} ${name}`} job={job} />;
}

function JobLogs({ job }: { job: JobRef }): ReactNode {
  const { t } = useText();
  const live = useLiveJob(job);
  const view = useLogsView();
  const session = useLogSession(job, view, live);
  return (
    <div className="logs-page">
      <JobHead job={job} live={live} title={t.logs.titleOf(job.name)} current="logs" />
      <LogsBody job={job} live={live} view={view} session={session} />
    </div>
  );
}

// A look into another tab is short.
const HIDDEN_MS = 30_000;

function restWhileHidden(session: LogSession): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => session.feed.rest(), HIDDEN_MS);
    else session.feed.wake();
  };
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

function useLogSession(
  job: JobRef,
  view: LogsView,
  live: JobDetail | null | undefined,
): LogSession {
  const { api, loginNeeded } = useServices();
  const [session] = useState(
    () => new LogSession({ api, job, random: Math.random, searcher: newSearcher() }),
  );
  const login = useCell(loginNeeded);
  const { options, query, onlyMatches } = view;
  useEffect(() => {
    // Whoever has logged in again goes on where the stream broke off.
    if (!login) session.start(options);
  }, [session, options, login]);
  useEffect(() => () => session.stop(), [session]);
  useEffect(() => restWhileHidden(session), [session]);
  useEffect(() => session.search.set(query), [session, query]);
  useEffect(() => session.setOnlyMatches(onlyMatches), [session, onlyMatches]);
  useEffect(() => {
    const ended = live?.state === "Succeeded" || live?.state === "Failed";
    session.feed.setOver(live === null || ended);
  }, [session, live]);
  return session;
}
