// Jobs of the past: found, read, never taken for jobs that are there.

import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { HistoryDetail, HistoryRow } from "../../api/types";
import { TYPED_MS } from "../../components/SearchBox";
import { FakeServer, problem, session } from "../../testing/fake_server";
import { renderAt } from "../../testing/render";
import { HOSTILE, jobOf } from "../job/job_fixture";
import "../job/patience";

function row(name: string, more: Partial<HistoryRow> = {}): HistoryRow {
  const { kind, namespace, health, roles, gpus, restarts, created } = jobOf();
  return {
    uid: `uid-${name}`,
    kind,
    namespace,
    name,
    state: "Failed",
    health,
    roles,
    gpus,
    restarts,
    message: "",
    created,
    started: "2026-11-20T10:00:00Z",
    finished: "2026-11-20T12:00:00Z",
    deleted: "2026-11-21T09:00:00Z",
    ...more,
  };
}

function detail(more: Partial<HistoryDetail> = {}): HistoryDetail {
  return {
    ...row("old", { message: "worker-1 failed: exit code 1" }),
    conditions: [
      {
        type: "Failed",
        status: true,
        reason: "PodFailed",
        message: "worker-1 failed",
        at: "2026-11-20T12:00:00Z",
      },
    ],
    restartsByCause: { killed: 2 },
    events: [],
    manifest: {
      apiVersion: "taas.dev/v1",
      kind: "TrainingJob",
      metadata: { name: "old", namespace: "ml" },
    },
    series: { series: {} },
    logs: [],
    ...more,
  };
}

function serverOf(job: HistoryDetail): FakeServer {
  const server = new FakeServer();
  server.on("GET", "api/history/uid-old", () => job);
  return server;
}

describe("the list", () => {
  test("has each job with how it ended, and leads to what was recorded", async () => {
    const server = new FakeServer();
    server.on("GET", "api/history", () => ({
      jobs: [
        row("old", { message: "no such file", owner: "grace" }),
        row("new", { deleted: undefined }),
      ],
    }));
    renderAt("/history?ns=ml", { server });
    const link = await screen.findByRole("link", { name: "old" });
    expect(link.getAttribute("href")).toBe("/history/uid-old?ns=ml");
    const line = link.closest("tr")?.textContent;
    for (const part of ["Failed", "ml", "2h", "grace", "no such file", "21 Nov 2026"]) {
      expect(line).toContain(part);
    }
    const other = screen.getByRole("link", { name: "new" }).closest("tr");
    expect(other?.textContent).toContain("still there");
    expect(server.asked.at(-1)?.query.get("namespace")).toBe("ml");
  });

  test("that is empty has no table", async () => {
    const server = new FakeServer();
    server.on("GET", "api/history", () => ({ jobs: [] }));
    renderAt("/history", { server });
    await screen.findByText("No job has ended or been deleted yet.");
    expect(screen.queryByRole("table")).toBeNull();
  });

  test("is searched at the server, and the search is in the URL", async () => {
    const server = new FakeServer();
    server.on("GET", "api/history", ({ query }) => ({
      jobs: query.get("text") === "bert" ? [row("bert-1")] : [row("mnist-1")],
    }));
    const { user, router } = renderAt("/history", { server });
    await screen.findByRole("link", { name: "mnist-1" });
    await user.type(screen.getByRole("searchbox"), "bert");
    await screen.findByRole("link", { name: "bert-1" });
    expect(screen.queryByRole("link", { name: "mnist-1" })).toBeNull();
    expect(router.state.location.search).toBe("?q=bert");
  });

  // Symptom: letters were lost that one typed while the address took up those before.
  test("keeps what one types while an earlier search is on its way", async () => {
    const server = new FakeServer();
    server.on("GET", "api/history", () => ({ jobs: [] }));
    const { router } = renderAt("/history", { server });
    const input = await screen.findByRole<HTMLInputElement>("searchbox");
    // As slowly as searches are sent.
    await userEvent.setup({ delay: TYPED_MS }).type(input, "bert");
    await waitFor(() => expect(router.state.location.search).toBe("?q=bert"));
    expect(input.value).toBe("bert");
    await router.navigate("/history?q=other");
    await waitFor(() => expect(input.value).toBe("other"));
  });

  test("a link with a search shows what it found", async () => {
    const server = new FakeServer();
    server.on("GET", "api/history", ({ query }) => ({ jobs: [row(query.get("text") ?? "none")] }));
    renderAt("/history?q=bert", { server });
    await screen.findByRole("link", { name: "bert" });
    expect(screen.getByRole<HTMLInputElement>("searchbox").value).toBe("bert");
  });

  test("comes page by page, and a job that is on two of them once", async () => {
    const server = new FakeServer();
    server.on("GET", "api/history", ({ query }) =>
      query.get("before") === "c1"
        ? { jobs: [row("a"), row("b")] }
        : { jobs: [row("a")], next: "c1" },
    );
    const { user } = renderAt("/history", { server });
    await screen.findByRole("link", { name: "a" });
    await user.click(screen.getByRole("button", { name: "Show older ones" }));
    await screen.findByRole("link", { name: "b" });
    expect(screen.getAllByRole("link", { name: "a" })).toHaveLength(1);
    expect(screen.queryByRole("button", { name: "Show older ones" })).toBeNull();
  });

  test("says that there is nothing, or nothing like that, and how to go back", async () => {
    const server = new FakeServer();
    server.on("GET", "api/history", () => ({ jobs: [] }));
    const { user } = renderAt("/history?q=x", { server });
    await screen.findByText("No job of the past is like that.");
    await user.click(screen.getByRole("button", { name: "Clear the search" }));
    await screen.findByText("No job has ended or been deleted yet.");
  });

  test("that cannot be read says why and can be tried again", async () => {
    const server = new FakeServer();
    server.on("GET", "api/history", () => problem(503, "Unavailable", "the disk is full"));
    const { user } = renderAt("/history", { server });
    await screen.findByText("The history cannot be read");
    expect(screen.getByText("the disk is full")).toBeTruthy();
    server.on("GET", "api/history", () => ({
      jobs: [row("a")],
      message: "it may lack the newest",
    }));
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByRole("link", { name: "a" });
    expect(screen.getByText("it may lack the newest")).toBeTruthy();
  });

  test("that is off says so and how to turn it on, and asks nothing", async () => {
    const server = new FakeServer(session({ historyDays: 0 }));
    renderAt("/history", { server });
    await screen.findByText("The history is off");
    expect(screen.getByText(/--history-days/)).toBeTruthy();
    expect(server.asked.some(({ path }) => path.startsWith("api/history"))).toBe(false);
  });
});

describe("one job of the past", () => {
  test("is marked as gone, with when, and says how it ended", async () => {
    renderAt("/history/uid-old", { server: serverOf(detail()) });
    await screen.findByText(/This job is gone: it was deleted on 21 Nov 2026/);
    expect(screen.getByText("worker-1 failed: exit code 1")).toBeTruthy();
    expect(screen.getByText("Failed", { selector: ".state" })).toBeTruthy();
    expect(screen.getByText("2h")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Suspend" })).toBeNull();
  });

  test("that still exists leads to its live page", async () => {
    renderAt("/history/uid-old", { server: serverOf(detail({ deleted: undefined })) });
    await screen.findByText("This job still exists");
    const link = screen.getByRole("link", { name: "ml/old" });
    expect(link.getAttribute("href")).toBe("/jobs/ml/trainingjobs/old");
  });

  test("has its time line with restarts by cause and attempts", async () => {
    const restart = {
      role: "worker" as const,
      index: 1,
      attempt: 1,
      podNumber: 1,
      cause: "killed",
      message: "exit code 137",
      node: "n",
      at: "2026-11-20T11:00:00Z",
    };
    const job = detail({ restartHistory: [restart], attempt: 2 });
    renderAt("/history/uid-old", { server: serverOf(job) });
    const { textContent: texts } = await screen.findByRole("list", { name: "Time line" });
    expect(texts).toContain("Condition: Failed");
    expect(texts).toContain("exit code 137");
    expect(texts).toContain("Attempt 2");
    expect(document.querySelector(".job-causes dl")?.textContent).toBe("Killed2");
  });

  test("has the last lines of each replica, of each of its pods", async () => {
    const line = (l: string) => ({ t: "2026-11-20T11:00:00Z", l });
    const logs = [
      {
        replica: "chief-0",
        podNumber: 1,
        lines: [line("step 1"), line("10%\r20%\r")],
        truncated: true,
      },
      { replica: "chief-0", podNumber: 2, lines: [line("step 9")], truncated: false },
      { replica: "ps-0", lines: [], truncated: false },
    ];
    const { user } = renderAt("/history/uid-old", { server: serverOf(detail({ logs })) });
    await user.click(await screen.findByRole("tab", { name: "Last log lines" }));
    const shown = () => screen.getByRole("region", { name: "chief-0" }).lastElementChild;
    expect(shown()?.textContent).toBe("step 1\n20%");
    expect(screen.getByText("Only the last lines were kept.")).toBeTruthy();
    await user.click(screen.getByRole("combobox", { name: "Log of" }));
    await user.click(await screen.findByTitle("chief-0, pod 2"));
    expect(shown()?.textContent).toBe("step 9");
    await user.click(screen.getByRole("combobox", { name: "Log of" }));
    await user.click(await screen.findByTitle("ps-0"));
    expect(screen.getByText("This replica wrote nothing.")).toBeTruthy();
  });

  test("has its curves in numbers, those of the test data apart", async () => {
    const series: HistoryDetail["series"] = {
      series: {
        loss: [
          [100, 1, 0.9],
          [200, 2, 0.25],
          [300, 3, 0.5],
        ],
      },
      evaluator: { loss: [[300, 3, 0.75]] },
    };
    const { user } = renderAt("/history/uid-old", { server: serverOf(detail({ series })) });
    await user.click(await screen.findByRole("tab", { name: "Curves" }));
    const rows = within(screen.getByRole("table")).getAllByRole("row").slice(1);
    expect(rows.map((one) => [...one.children].map(({ textContent }) => textContent))).toEqual([
      ["loss ", "300", "0.5", "0.25", "0.9", "3"],
      ["loss of the test data", "300", "0.75", "0.75", "0.75", "1"],
    ]);
  });

  test("has its checkpoints as they were last seen, and no command for them", async () => {
    const checkpoints = {
      dir: "/out",
      claim: "old-out",
      folder: "/volumes/old-out",
      from: "folder" as const,
      newest: [{ step: 2000, bytes: 3_183_212 }],
    };
    renderAt("/history/uid-old", { server: serverOf(detail({ checkpoints })) });
    const region = await screen.findByRole("region", { name: "Checkpoints" });
    for (const part of ["/out on claim old-out", "3.18 MB", "/volumes/old-out", "last seen"]) {
      expect(region.textContent).toContain(part);
    }
    expect(region.textContent).not.toContain("taas export");
  });

  test("is cloned from what was recorded", async () => {
    const { user, router } = renderAt("/history/uid-old?ns=ml", { server: serverOf(detail()) });
    await user.click(await screen.findByRole("button", { name: "Clone" }));
    expect(router.state.location.pathname).toBe("/submit");
    const search = new URLSearchParams(router.state.location.search);
    expect([search.get("cloneHistory"), search.get("ns")]).toEqual(["uid-old", "ml"]);
  });

  test("without its manifest cannot be cloned, and the button says why", async () => {
    renderAt("/history/uid-old", { server: serverOf(detail({ manifest: undefined })) });
    const clone = await screen.findByRole("button", { name: "Clone" });
    const why = document.getElementById(clone.getAttribute("aria-describedby") ?? "");
    expect(why?.textContent).toBe("Its manifest was not recorded.");
  });

  test("says which parts are held back", async () => {
    const job = detail({ manifest: undefined, withheld: ["events", "logs", "manifest"] });
    const { user } = renderAt("/history/uid-old", { server: serverOf(job) });
    await screen.findByText(/it takes the right to list events/);
    await user.click(screen.getByRole("tab", { name: "Last log lines" }));
    expect(screen.getByText(/it takes the right to get pods\/log/)).toBeTruthy();
    await user.click(screen.getByRole("tab", { name: "YAML" }));
    expect(screen.getByText(/it takes the right to get it/)).toBeTruthy();
  });

  // Symptom: right after a deletion "or it never existed", and so for ever.
  test("that was just deleted is asked for again, and that is said meanwhile", async () => {
    const server = new FakeServer();
    let asked = 0;
    server.on("GET", "api/history/uid-old", () => {
      asked += 1;
      return asked > 1 ? detail() : problem(404, "NotFound", "no such job");
    });
    renderAt("/history/uid-old", { server });
    await screen.findByText(/just deleted takes some seconds/);
    await screen.findByRole("heading", { level: 1, name: "old" });
    expect(asked).toBe(2);
  });

  test("has a link to what else is gone of its namespace", async () => {
    renderAt("/history/uid-old", { server: serverOf(detail()) });
    const link = await screen.findByRole("link", { name: "ml" });
    expect(link.getAttribute("href")).toBe("/history?ns=ml");
  });

  test("that the history does not have is said", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    renderAt("/history/nothing", {});
    await screen.findByText(/just deleted takes some seconds/);
    await act(() => vi.advanceTimersByTimeAsync(20_000));
    await screen.findByText("The history does not have this job");
    expect(screen.getAllByRole("link", { name: "History" }).length).toBeGreaterThan(1);
  });
});

test("hostile strings of the past are text", async () => {
  const job = detail({
    message: HOSTILE,
    owner: HOSTILE,
    queue: HOSTILE,
    logs: [
      {
        replica: HOSTILE,
        lines: [{ t: HOSTILE, l: `${HOSTILE}\u001b[31m\n${HOSTILE}` }],
        truncated: false,
      },
    ],
    series: { series: { [HOSTILE]: [[1, 1, 1]] }, message: HOSTILE },
  });
  const { user, container } = renderAt("/history/uid-old", { server: serverOf(job) });
  for (const tab of ["Last log lines", "Curves", "YAML"]) {
    await user.click(await screen.findByRole("tab", { name: tab }));
  }
  await screen.findByRole("tab", { name: "YAML", selected: true });
  expect(container.querySelector("img[src=x], script")).toBeNull();
});

test("the history is Chinese where the user reads Chinese", async () => {
  renderAt("/history/uid-old", { server: serverOf(detail()), language: "zh" });
  await screen.findByText(/该作业已不存在/);
  expect(screen.getByRole("tab", { name: "时间线" })).toBeTruthy();
});

describe("what the replicas of a job that is gone used", () => {
  test("is a line for each kind that was measured", async () => {
    const rows = [
      [1_000, 3, 512],
      [1_060, 1, 256],
    ];
    const usage = { every: 0, replicas: { "worker-10": rows, "worker-2": rows } };
    const { user } = renderAt("/history/uid-old", { server: serverOf(detail({ usage })) });
    await user.click(await screen.findByRole("tab", { name: "Curves" }));
    const region = await screen.findByRole("region", { name: "What the replicas used" });
    const [head, first, second] = within(region).getAllByRole("row");
    const texts = (one: HTMLElement | undefined) =>
      [...(one?.querySelectorAll("th, td") ?? [])].map((cell) => cell.firstChild?.textContent);
    expect(texts(head)).toEqual(["Replica", "CPU used", "Memory used"]);
    expect(texts(first)).toEqual(["worker-2", "at most 3 cores", "at most 512 MiB"]);
    expect(texts(second)[0]).toBe("worker-10");
    expect(within(region).getAllByRole("img")).toHaveLength(4);
  });

  test("is said not to be there, in Chinese too", async () => {
    const { user } = renderAt("/history/uid-old", { server: serverOf(detail()), language: "zh" });
    await user.click(await screen.findByRole("tab", { name: "曲线" }));
    expect(await screen.findByText(/没有记录其副本的资源用量/)).toBeTruthy();
  });
});
