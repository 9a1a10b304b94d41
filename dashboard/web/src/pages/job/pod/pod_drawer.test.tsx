// The drawer of one replica.

import { act, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { KubeObject, Replica } from "../../../api/types";
import { FakeServer, problem } from "../../../testing/fake_server";
import { renderAt } from "../../../testing/render";
import type { Env } from "../job_fixture";
import { HOSTILE, jobOf, podOf, replica, tfConfig } from "../job_fixture";
import "../patience";

const CLUSTER = {
  chief: ["bert-chief-0:2222"],
  ps: ["bert-ps-0:2222"],
  worker: ["bert-worker-0:2222", "bert-worker-1:2222", "bert-worker-2:2222"],
};

function podUrl(name: string): string {
  return `api/pods/ml/${name}`;
}

/** A server with the pods of jobOf(); those in `odd` were told another cluster. */
function serverOf(odd: Record<string, unknown> = {}): FakeServer {
  const server = new FakeServer();
  for (const { pod, role, index } of jobOf().replicas) {
    const cluster = odd[pod!] ?? CLUSTER;
    const env = [{ name: "TF_CONFIG", value: tfConfig(cluster, role, index) }];
    server.on("GET", podUrl(pod!), () => podOf(pod!, env));
  }
  return server;
}

interface Shown {
  server?: FakeServer;
  of?: Partial<Replica>;
  env?: Env;
  more?: Record<string, unknown>;
  tab?: string;
  language?: "zh";
}

async function show(shown: Shown = {}) {
  const { server = serverOf(), of = {}, env, more, tab, language } = shown;
  if (env) server.on("GET", podUrl("bert-worker-1"), () => podOf("bert-worker-1", env, more));
  const rendered = renderAt("/jobs/ml/trainingjobs/bert?replica=worker-1", {
    server,
    ...(language ? { language } : {}),
  });
  const replicas = jobOf().replicas.map((one) =>
    one.pod === "bert-worker-1" ? { ...one, ...of } : one,
  );
  await server.send("job", { job: jobOf({ replicas }) });
  const drawer = await screen.findByRole("dialog");
  if (tab !== undefined) await rendered.user.click(within(drawer).getByRole("tab", { name: tab }));
  return { ...rendered, server, drawer };
}

const ENDED = {
  status: {
    containerStatuses: [
      {
        name: "trainer",
        restartCount: 1,
        imageID: "registry.example.com/bert@sha256:abc",
        state: { running: { startedAt: "2026-11-20T11:00:00Z" } },
        lastState: {
          terminated: {
            exitCode: 137,
            reason: "OOMKilled",
            startedAt: "2026-11-20T10:00:00Z",
            finishedAt: "2026-11-20T10:30:00Z",
            message: '{"message":"wrote checkpoint 1200","step":1200}',
          },
        },
      },
    ],
  },
};

// Symptom: a replica's details had no CPU and memory used, though the cluster measures them.
describe("what a replica uses", () => {
  const usage = "api/jobs/ml/trainingjobs/bert/usage";

  test("stands among its facts", async () => {
    const server = serverOf();
    const pods = { "bert-worker-1": { cpu: 0.5, memoryMiB: 1024 } };
    server.on("GET", usage, () => ({ pods }));
    const { drawer } = await show({ server });
    expect((await within(drawer).findByText("CPU used")).nextSibling?.textContent).toBe(
      "0.5 cores",
    );
    expect(within(drawer).getByText("Memory used").nextSibling?.textContent).toBe("1 GiB");
  });

  test("is a line since the page was opened", async () => {
    const server = serverOf();
    let cpu = 0.5;
    server.on("GET", usage, () => ({ pods: { "bert-worker-1": { cpu, memoryMiB: 1024 } } }));
    const { drawer, services } = await show({ server });
    await within(drawer).findByText("0.5 cores");
    expect(within(drawer).queryByRole("img", { name: /^since/ })).toBeNull();
    cpu = 2;
    await act(() => services.queries.refetchQueries({ queryKey: ["usage"] }));
    const lines = await within(drawer).findAllByRole("img", { name: /^since .*: / });
    expect(lines.map((one) => one.getAttribute("aria-label"))).toEqual([
      expect.stringMatching(/: 0.5 cores to 2 cores$/),
      expect.stringMatching(/: 1 GiB to 1 GiB$/),
    ]);
  });

  // Symptom: a page that was opened later showed nothing of what had been before, and of a replica
  // that had ended nothing at all.
  test("is a line from before the page was opened, of GPUs too", async () => {
    const server = serverOf();
    const ago = (seconds: number): number => Math.round(Date.now() / 1000) - seconds;
    const rows = [
      [ago(120), 3, 512, 0.25, 4096],
      [ago(60), 1, 2048, 0.75, 8192],
    ];
    server.on("GET", usage, () => ({ pods: { "bert-worker-1": { cpu: 0.5, memoryMiB: 1024 } } }));
    server.on("GET", `${usage}/recorded`, () => ({ every: 0, replicas: { "worker-1": rows } }));
    const { drawer } = await show({ server });
    const lines = await within(drawer).findAllByRole("img", { name: /^since .*: / });
    expect(lines.map((one) => one.getAttribute("aria-label"))).toEqual([
      expect.stringMatching(/: 0.5 cores to 3 cores$/),
      expect.stringMatching(/: 512 MiB to 2 GiB$/),
      expect.stringMatching(/: 25% to 75%$/),
      expect.stringMatching(/: 4 GiB to 8 GiB$/),
    ]);
    expect(within(drawer).getByText("GPUs busy").nextSibling?.textContent).toContain("75%");
  });

  test("of one that has ended is what it was at most", async () => {
    const server = serverOf();
    const rows = [
      [1_000, 3, 512],
      [1_060, 1, 256],
    ];
    server.on("GET", `${usage}/recorded`, () => ({ every: 0, replicas: { "worker-1": rows } }));
    const { drawer } = await show({ server, of: { state: "Succeeded" } });
    expect((await within(drawer).findByText("CPU used")).nextSibling?.textContent).toContain(
      "at most 3 cores",
    );
    expect(within(drawer).queryByText("GPUs busy")).toBeNull();
  });

  test.each([
    ["NotServed", /the cluster runs no metrics-server/],
    ["Forbidden", /the right to list pods.metrics.k8s.io/],
    [undefined, /not measured yet/],
  ])("is said quietly not to be known: %s", async (why, words) => {
    const server = serverOf();
    server.on("GET", usage, () => ({ pods: {}, why }));
    const { drawer } = await show({ server });
    expect(await within(drawer).findByText(words)).toBeTruthy();
    expect(within(drawer).queryByRole("alert")).toBeNull();
  });
});

describe("the overview of a replica", () => {
  test("says why it is not well, what its exit code means and what to do", async () => {
    const { drawer } = await show({
      of: {
        state: "Failed",
        health: "critical",
        healthReason: "PodFailed",
        message: "Error: open /data: no such file",
        exitCode: 143,
        exitReason: "Error",
      },
    });
    expect(within(drawer).getByText("A pod has failed.")).toBeTruthy();
    expect(within(drawer).getByText("open /data: no such file")).toBeTruthy();
    expect(drawer.textContent).toContain("exit code 143. It was told to stop (SIGTERM)");
    expect(drawer.textContent).toContain("it gets a new pod");
  });

  test("is Chinese to the full stop, without the trainer's JSON", async () => {
    const { drawer } = await show({
      language: "zh",
      of: {
        state: "Failed",
        health: "critical",
        healthReason: "PodFailed",
        message: 'OOMKilled: {"message":"open /data: no such file","step":0}',
        exitCode: 137,
        exitReason: "OOMKilled",
      },
    });
    expect(within(drawer).getByText("open /data: no such file（第 0 步）")).toBeTruthy();
    expect(drawer.textContent).toContain("退出码 137（OOMKilled）。因为使用的内存");
    const number = within(drawer).getByText("Pod 序号").nextElementSibling;
    expect(number?.textContent).toBe("第 1 个 Pod 该副本每得到一个新的 Pod，序号加一");
  });

  test("of a program that was not started does not send to its log", async () => {
    const { drawer } = await show({
      of: {
        state: "Failed",
        health: "critical",
        healthReason: "PodFailed",
        message: "StartError: exec: trainee: not found",
        exitCode: 128,
        exitReason: "StartError",
      },
    });
    expect(within(drawer).getByText("exec: trainee: not found")).toBeTruthy();
    expect(drawer.textContent).toContain("Its program could not be started");
    expect(drawer.textContent).toContain("exit code 128 (StartError). The program could not be");
    expect(drawer.textContent).not.toContain("last lines");
  });

  test("has where it runs, its numbers, its devices and a link to its log", async () => {
    const { drawer } = await show({
      of: { podNumber: 3, attempt: 2, restarts: 4, devices: ["GPU-7", "GPU-8"] },
    });
    const text = drawer.textContent;
    for (const part of ["bert-worker-1", "node-1", "10.0.0.1", "2 GPUs: GPU-7, GPU-8"]) {
      expect(text).toContain(part);
    }
    const number = within(drawer).getByText("Pod number").nextElementSibling;
    expect(number?.textContent).toContain("3");
    const log = within(drawer).getByRole("link", { name: "Log of this replica" });
    const expected = "/jobs/ml/trainingjobs/bert/logs?replica=worker-1";
    expect(log.getAttribute("href")).toBe(expected);
  });

  test("says that GPUs are held of which nobody knows the numbers", async () => {
    const { drawer } = await show();
    expect(drawer.textContent).toContain("2 GPUs; the cluster does not say which");
  });

  test("has each container's image, requests, limits and how it last ended", async () => {
    const { drawer } = await show({ env: [], more: undefined });
    await within(drawer).findByText("Container trainer");
    const table = within(drawer).getByRole("table", { name: "Resources" });
    const rows = within(table).getAllByRole("row").slice(1);
    expect(rows.map(({ textContent }) => textContent)).toEqual(["cpu4—", "memory—16Gi"]);
    expect(within(drawer).getByText("registry.example.com/bert:1")).toBeTruthy();
  });

  test("tells of a run before the present one with its last words", async () => {
    const object = { ...podOf("bert-worker-1", []), ...ENDED };
    const server = serverOf();
    server.on("GET", podUrl("bert-worker-1"), () => object);
    const { drawer } = await show({ server });
    await within(drawer).findByText("wrote checkpoint 1200 (at step 1,200)");
    expect(drawer.textContent).toContain("exit code 137 (OOMKilled)");
    expect(drawer.textContent).toContain("used more memory than its limit");
  });

  test("is read anew when the stream says that the pod is another one", async () => {
    const server = serverOf();
    let reads = 0;
    server.on("GET", podUrl("bert-worker-1"), () => podOf(`read-${(reads += 1)}`, []));
    await show({ server });
    await waitFor(() => expect(reads).toBe(1));
    await server.send("job", { job: jobOf() });
    const replicas = [...jobOf().replicas.slice(0, 3), replica("worker", 1, { podNumber: 2 })];
    await server.send("job", { job: jobOf({ replicas }) });
    await waitFor(() => expect(reads).toBe(2));
  });

  test("that may not be read is a sentence, and what the stream knows stays", async () => {
    const server = serverOf();
    server.on("GET", podUrl("bert-worker-1"), () =>
      problem(403, "Forbidden", "ada cannot get pods in ml"),
    );
    const { drawer } = await show({ server });
    await within(drawer).findByText("The details of its pod cannot be read");
    expect(drawer.textContent).toContain("You may not do this");
    expect(drawer.textContent).toContain("ada cannot get pods in ml");
    expect(drawer.textContent).toContain("node-1");
  });

  test("of a replica without a pod asks nothing and says so", async () => {
    const server = serverOf();
    const { drawer } = await show({ server, of: { pod: undefined, state: "Missing" } });
    expect(drawer.textContent).toContain("No pod of this replica exists now.");
    expect(server.asked.some(({ path }) => path.startsWith("api/pods"))).toBe(false);
  });

  test("of a replica that is no longer part of the job says that", async () => {
    const { drawer, server } = await show();
    const replicas = jobOf().replicas.slice(0, 2);
    await server.send("job", { job: jobOf({ replicas }) });
    await within(drawer).findByText("This replica is no longer part of the job.");
  });

  test("closes, and the URL forgets it", async () => {
    const { user, drawer, router } = await show();
    await user.click(within(drawer).getByRole("button", { name: "Close" }));
    expect(router.state.location.search).toBe("");
  });
});

describe("the environment", () => {
  const ENV: Env = [
    { name: "EPOCHS", value: "3" },
    { name: "DB_PASSWORD", value: "hunter2" },
    { name: "API", valueFrom: { secretKeyRef: { name: "tokens", key: "api" } } },
  ];

  test("shows values, references as where they point, and no secret", async () => {
    const { drawer, user } = await show({ env: ENV, tab: "Environment" });
    await within(drawer).findByText("EPOCHS");
    expect(within(drawer).getByText("3")).toBeTruthy();
    expect(within(drawer).getByText("Secret tokens, key api")).toBeTruthy();
    expect(drawer.textContent).not.toContain("hunter2");
    await user.click(within(drawer).getByRole("button", { name: "Show the value of DB_PASSWORD" }));
    expect(within(drawer).getByText("hunter2")).toBeTruthy();
  });

  test("lets the keyboard scroll a value that is long, and passes by the others", async () => {
    const long = { name: "LONG", value: "word ".repeat(100) };
    const { drawer } = await show({ env: [...ENV, long], tab: "Environment" });
    const region = await within(drawer).findByRole("region", { name: "LONG" });
    expect(region.tabIndex).toBe(0);
    expect(within(drawer).queryByRole("region", { name: "EPOCHS" })).toBeNull();
  });

  test("is searched by name and value, but not by what is hidden", async () => {
    const { drawer, user } = await show({ env: ENV, tab: "Environment" });
    await within(drawer).findByText("EPOCHS");
    const search = within(drawer).getByRole("searchbox", { name: "Search in the environment" });
    await user.type(search, "hunter2");
    expect(within(drawer).getByText("No variable is like that.")).toBeTruthy();
    await user.clear(search);
    await user.type(search, "epo");
    expect(within(drawer).getByText("EPOCHS")).toBeTruthy();
    expect(within(drawer).queryByText("API")).toBeNull();
  });
});

describe("TF_CONFIG", () => {
  test("is a table with this replica marked, and the raw text to copy", async () => {
    const { drawer } = await show({ tab: "TF_CONFIG" });
    await within(drawer).findByText("It was told that it is worker-1.");
    expect(within(drawer).getByText("Cluster: 5 addresses")).toBeTruthy();
    const own = within(drawer).getByRole("row", { name: /worker-1 this replica/ });
    expect(own.textContent).toContain("bert-worker-1:2222");
    expect(within(drawer).getByRole("button", { name: "Copy TF_CONFIG" })).toBeTruthy();
    expect(within(drawer).getByText(tfConfig(CLUSTER, "worker", 1))).toBeTruthy();
  });

  test("of all replicas of a small job is compared unasked", async () => {
    const { drawer, server } = await show({ tab: "TF_CONFIG" });
    await within(drawer).findByText("4 other replicas got the same addresses of the cluster.");
    const pods = server.asked.filter(({ path }) => path.startsWith("api/pods"));
    expect(new Set(pods.map(({ path }) => path)).size).toBe(5);
    expect(pods).toHaveLength(5);
  });

  test("that differs between replicas is flagged with what differs", async () => {
    const server = serverOf({
      "bert-worker-2": { ...CLUSTER, ps: ["bert-ps-0:9999"] },
      "bert-chief-0": { ...CLUSTER, worker: CLUSTER.worker.slice(0, 2) },
    });
    const { drawer } = await show({ server, tab: "TF_CONFIG" });
    await within(drawer).findByText("2 replicas were told otherwise");
    const items = within(drawer).getAllByRole("listitem").map(({ textContent }) => textContent);
    expect(items.sort()).toEqual([
      "chief-0: only here: worker-2",
      "worker-2: ps-0 is at bert-ps-0:2222 here, at bert-ps-0:9999 there",
    ]);
  });

  test("counts pods that cannot be read instead of calling them equal", async () => {
    const server = serverOf();
    server.on("GET", podUrl("bert-ps-0"), () => problem(403, "Forbidden", "no"));
    const { drawer } = await show({ server, tab: "TF_CONFIG" });
    await within(drawer).findByText("3 other replicas got the same addresses of the cluster.");
    expect(within(drawer).getByText("1 pod could not be read")).toBeTruthy();
  });

  test("of a large job says in which ConfigMap the list is and how to read it", async () => {
    const { drawer } = await show({
      tab: "TF_CONFIG",
      env: [
        {
          name: "TAAS_CLUSTER",
          valueFrom: { configMapKeyRef: { name: "bert-cluster-1a2b", key: "cluster" } },
        },
        {
          name: "TF_CONFIG",
          value: '{"cluster":$(TAAS_CLUSTER),"task":{"type":"worker","index":1}}',
        },
      ],
    });
    await within(drawer).findByText(/in the ConfigMap bert-cluster-1a2b/);
    expect(
      within(drawer).getByText(/^kubectl get configmap bert-cluster-1a2b -n ml -o jsonpath/),
    ).toBeTruthy();
  });

  test("of another replica is an error that one sees", async () => {
    const env = [{ name: "TF_CONFIG", value: tfConfig(CLUSTER, "worker", 2) }];
    const { drawer } = await show({ tab: "TF_CONFIG", env });
    await within(drawer).findByText("It was told that it is worker-2, but it is worker-1.");
  });

  test("that is none is said, and one that is no JSON is shown as it is", async () => {
    const none = await show({ tab: "TF_CONFIG", env: [] });
    await within(none.drawer).findByText(/The pod has no TF_CONFIG/);
    none.unmount();
    const odd = await show({ tab: "TF_CONFIG", env: [{ name: "TF_CONFIG", value: "{oops" }] });
    await within(odd.drawer).findByText(/no JSON that can be read/);
    expect(within(odd.drawer).getByText("{oops")).toBeTruthy();
  });
});

test("hostile strings of a pod are text", async () => {
  const env: Env = [
    { name: HOSTILE, value: HOSTILE },
    { name: "TF_CONFIG", value: tfConfig({ [HOSTILE]: [HOSTILE] }, HOSTILE, 0) },
  ];
  const status: KubeObject["status"] = {
    containerStatuses: [
      { name: "trainer", state: { waiting: { reason: HOSTILE, message: HOSTILE } } },
    ],
  };
  const { drawer, user } = await show({ env, more: { status }, of: { message: HOSTILE } });
  await within(drawer).findByText("Container trainer");
  for (const tab of ["Environment", "TF_CONFIG"]) {
    await user.click(within(drawer).getByRole("tab", { name: tab }));
  }
  await within(drawer).findByText("Cluster: 1 address");
  expect(drawer.querySelector("img, script")).toBeNull();
});
