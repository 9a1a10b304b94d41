// Jobs for the tests of this page.

import type { JobDetail, KubeObject, Replica, Role } from "../../api/types";

/** A name as somebody with bad intentions would choose it: markup, and text turned around. */
export const HOSTILE = '\u202e<img src=x onerror="alert(1)">\u2066';

export function replica(role: Role, index: number, more: Partial<Replica> = {}): Replica {
  return {
    role,
    index,
    state: "Running",
    health: "ok",
    pod: `bert-${role}-${index}`,
    podNumber: 1,
    attempt: 1,
    node: `node-${index}`,
    ip: `10.0.0.${index}`,
    ready: true,
    restarts: 0,
    created: "2026-11-20T10:00:00Z",
    started: "2026-11-20T10:00:05Z",
    ...more,
  };
}

export function jobOf(more: Partial<JobDetail> = {}): JobDetail {
  return {
    uid: "uid-1",
    kind: "TrainingJob",
    namespace: "ml",
    name: "bert",
    state: "Running",
    health: "ok",
    roles: [
      { role: "chief", desired: 1, ready: 1, succeeded: 0, failed: 0 },
      { role: "ps", desired: 1, ready: 1, succeeded: 0, failed: 0 },
      { role: "worker", desired: 3, ready: 3, succeeded: 0, failed: 0 },
    ],
    gpus: 6,
    restarts: 0,
    message: "",
    created: "2026-11-20T10:00:00Z",
    started: "2026-11-20T10:00:05Z",
    conditions: [],
    attempt: 1,
    restartsByCause: {},
    restartHistory: [],
    replicas: [
      replica("chief", 0),
      replica("ps", 0),
      replica("worker", 0, { gpus: 2 }),
      replica("worker", 1, { gpus: 2 }),
      replica("worker", 2, { gpus: 2 }),
    ],
    events: [],
    suspended: false,
    podsVisible: true,
    access: { update: true, delete: true, create: true, logs: true },
    ...more,
  };
}

export type Env = { name: string; value?: string; valueFrom?: unknown }[];

export function tfConfig(cluster: unknown, type: string, index: number): string {
  return JSON.stringify({ cluster, task: { type, index }, environment: "cloud" });
}

/** A pod as the API server has it. */
export function podOf(name: string, env: Env, more: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "ml" },
    spec: {
      containers: [
        {
          name: "trainer",
          image: "registry.example.com/bert:1",
          env,
          resources: { requests: { cpu: "4" }, limits: { memory: "16Gi" } },
        },
      ],
    },
    status: {},
    ...more,
  };
}
