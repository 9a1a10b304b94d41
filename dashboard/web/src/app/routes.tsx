// Which path shows which page. All but the jobs are loaded when they are first opened.

import type { ReactNode } from "react";
import { lazy, Suspense } from "react";
import type { RouteObject } from "react-router";
import { Navigate, Outlet, useLocation } from "react-router";
import JobsPage from "../pages/jobs";
import { ErrorBoundary } from "./ErrorBoundary";
import { NotFound } from "./NotFound";
import { PageLoading, Shell } from "./Shell";

const JobPage = lazy(() => import("../pages/job"));
const LogsPage = lazy(() => import("../pages/logs"));
const TrainingPage = lazy(() => import("../pages/training"));
const GpusPage = lazy(() => import("../pages/gpus"));
const QueuesPage = lazy(() => import("../pages/queues"));
const SubmitPage = lazy(() => import("../pages/submit"));
const HistoryPage = lazy(() => import("../pages/history"));
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
