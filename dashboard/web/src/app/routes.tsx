// Which path shows which page. All but the jobs are loaded when they are first opened, or a while
// after the first one: links lead somewhere also while the server is away or has been updated.

import type { ComponentType, ReactNode } from "react";
import { lazy, Suspense } from "react";
import type { RouteObject } from "react-router";
import { Navigate, Outlet, useLocation } from "react-router";
import JobsPage from "../pages/jobs";
import { ErrorBoundary } from "./ErrorBoundary";
import { NotFound } from "./NotFound";
import { PageLoading, Shell } from "./Shell";

const LOADS: (() => Promise<unknown>)[] = [];

function later(load: () => Promise<{ default: ComponentType }>) {
  LOADS.push(load);
  return lazy(load);
}

/** What does not come is tried again when it is opened. */
export function loadAllPages(): void {
  for (const load of LOADS) void load().catch(() => undefined);
}

const JobPage = later(() => import("../pages/job"));
const LogsPage = later(() => import("../pages/logs"));
const TrainingPage = later(() => import("../pages/training"));
const GpusPage = later(() => import("../pages/gpus"));
const QueuesPage = later(() => import("../pages/queues"));
const SubmitPage = later(() => import("../pages/submit"));
const HistoryPage = later(() => import("../pages/history"));
const EmbedPage = lazy(() => import("../pages/embed"));

export const routes: RouteObject[] = [
  // A chart inside of someone else's page has no frame of ours.
  {
    path: "embed",
    element: <Bare />,
    children: [{ path: ":namespace/:plural/:name/:chart", element: <EmbedPage /> }],
  },
  {
    element: <Shell />,
    children: [
      { index: true, element: <ToJobs /> },
      { path: "jobs", element: <JobsPage /> },
      { path: "jobs/:namespace/:plural/:name", element: <JobPage /> },
      { path: "jobs/:namespace/:plural/:name/logs", element: <LogsPage /> },
      { path: "jobs/:namespace/:plural/:name/training", element: <TrainingPage /> },
      { path: "gpus", element: <GpusPage /> },
      { path: "queues", element: <QueuesPage /> },
      { path: "submit", element: <SubmitPage /> },
      { path: "history", element: <HistoryPage /> },
      { path: "history/:uid", element: <HistoryPage /> },
      { path: "*", element: <NotFound /> },
    ],
  },
];

function ToJobs(): ReactNode {
  const { search } = useLocation();
  return <Navigate to={{ pathname: "/jobs", search }} replace />;
}

function Bare(): ReactNode {
  const { pathname } = useLocation();
  return (
    <main className="bare">
      <ErrorBoundary resetKey={pathname}>
        <Suspense fallback={<PageLoading />}>
          <Outlet />
        </Suspense>
      </ErrorBoundary>
    </main>
  );
}
