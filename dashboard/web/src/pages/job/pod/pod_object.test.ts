import { expect, test } from "vitest";
import type { KubeObject } from "../../../api/types";
import { podOf } from "../job_fixture";
import { looksSecret, readPod } from "./pod_object";

test("what a variable is made from is named, and no value is invented for it", () => {
  const [container] = readPod(
    podOf("p", [
      { name: "A", value: "1" },
      { name: "B", valueFrom: { secretKeyRef: { name: "tokens", key: "api" } } },
      { name: "C", valueFrom: { configMapKeyRef: { name: "map", key: "k" } } },
      { name: "D", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
      { name: "E", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
      { name: "F", valueFrom: { fileKeyRef: { path: "x" } } },
    ]),
  ).containers;
  expect(container?.env).toEqual([
    { name: "A", value: "1" },
    { name: "B", from: { kind: "secret", name: "tokens", key: "api" } },
    { name: "C", from: { kind: "configMap", name: "map", key: "k" } },
    { name: "D", from: { kind: "field", name: "spec.nodeName" } },
    { name: "E", from: { kind: "resource", name: "limits.cpu" } },
    { name: "F", from: { kind: "other", name: "fileKeyRef" } },
  ]);
});

test("a container is told with its present run, its last one, and its devices", () => {
  const [container] = readPod(
    podOf("p", [], {
      status: {
        containerStatuses: [
          {
            name: "trainer",
            restartCount: 2,
            state: { running: { startedAt: "2026-11-20T10:00:00Z" } },
            lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
            allocatedResourcesStatus: [
              { name: "nvidia.com/gpu", resources: [{ resourceID: "GPU-1" }] },
            ],
          },
        ],
      },
    }),
  ).containers;
  expect(container).toMatchObject({
    restarts: 2,
    now: { state: "running" },
    last: { state: "terminated", exitCode: 137, reason: "OOMKilled" },
    devices: ["GPU-1"],
    requests: [["cpu", "4"]],
    limits: [["memory", "16Gi"]],
  });
});

test("an object of another form than a pod's is read as far as it goes", () => {
  const odd = {
    kind: "Pod",
    spec: { containers: [null, 7, { name: 3, env: "x", resources: [] }, { env: [{}, "y"] }] },
    status: { containerStatuses: { a: 1 }, conditions: [null] },
  };
  const pod = readPod(odd as unknown as KubeObject);
  expect(pod.containers).toHaveLength(4);
  expect(pod.containers.every(({ env }) => env.length === 0)).toBe(true);
});

test("names that sound like secrets are known, and others are not", () => {
  for (const name of ["DB_PASSWORD", "api_key", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "PGPASS"]) {
    expect([name, looksSecret(name)]).toEqual([name, true]);
  }
  for (const name of ["PATH", "TF_CONFIG", "KEYBOARD", "TAAS_TRAINER"]) {
    expect([name, looksSecret(name)]).toEqual([name, false]);
  }
});
