// Rows of jobs for tests.

import type { JobRow } from "../api/types";

export function row(name: string, more: Partial<JobRow> = {}): JobRow {
  return {
    uid: `uid-${name}`,
    kind: "TrainingJob",
    namespace: "ml",
    name,
    state: "Running",
    health: "ok",
    roles: [{ role: "worker", desired: 2, ready: 2, succeeded: 0, failed: 0 }],
    gpus: 2,
    restarts: 0,
    message: "",
    created: "2026-03-01T10:00:00Z",
    ...more,
  };
}
