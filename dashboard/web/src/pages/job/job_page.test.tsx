// What a person sees of one job: what is the matter first, and what to do.

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { JobDetail } from "../../api/types";
import { en } from "../../i18n/en";
import { FakeServer, problem, session } from "../../testing/fake_server";
import { renderAt } from "../../testing/render";
import { HOSTILE, jobOf, replica } from "./job_fixture";
import "./patience";

const PATH = "/jobs/ml/trainingjobs/bert";

async function show(job: JobDetail | null, more: Parameters<typeof renderAt>[1] = {}) {
  const server = more.server ?? new FakeServer();
  const rendered = renderAt(PATH, { ...more, server });
  await server.send("job", { job });
  return rendered;
}

function message(): HTMLElement {
  return screen.getByRole("region", { name: "How the job is" });
}

const PULL = jobOf({
  health: "critical",
  healthReason: "ImagePull",
  message: "worker-1 cannot start: ErrImagePull: not found",
  replicas: [
    replica("chief", 0),
    replica("worker", 0),
    replica("worker", 1, { state: "Pending", health: "critical", healthReason: "ImagePull" }),
  ],
});

describe("the head of a job", () => {
  test("says what the job is, in words, and asks the stream for this job only", async () => {
    const { server } = await show(jobOf({ state: "Running", health: "warning" }));
    expect(await screen.findByRole("heading", { level: 1, name: "bert" })).toBeTruthy();
    expect(screen.getByText("TrainingJob")).toBeTruthy();
    expect(screen.getByText("Warning", { selector: ".tag" })).toBeTruthy();
    expect(server.streams.at(-1)?.query.get("job")).toBe("ml/trainingjobs/bert");
    expect(server.streams.at(-1)?.query.has("jobs")).toBe(false);
  });

  test("tells how far it is and when it will be done, its owner and queue", async () => {
    await show(
      jobOf({
        owner: "grace",
        queue: "research",
        progress: {
          step: 1240,
          maxSteps: 20000,
          percent: 6.2,
          examplesPerSecond: 20150,
          etaSeconds: 5400,
          loss: 0.2134,
        },
        finishedFor: { ttlSeconds: 3600 },
      }),
    );
    expect(await screen.findByText(/step 1,240 of 20,000/, { selector: "span" })).toBeTruthy();
    expect(screen.getByText(/about 1h 30m left/)).toBeTruthy();
    expect(screen.getByText("grace")).toBeTruthy();
    expect(screen.getByRole("link", { name: "research" })).toBeTruthy();
    expect(screen.getByText(/deleted by itself after 1h/)).toBeTruthy();
  });

  // Symptom: of a job that trains on text only the accuracy of its last evaluation showed.
  test("has the perplexity of a text's last evaluation", async () => {
    const progress = { step: 600, maxSteps: 600, percent: 100, examplesPerSecond: 0 };
    await show(jobOf({ progress: { ...progress, accuracy: 0.847, perplexity: 1.4905 } }));
    const name = await screen.findByText("Test perplexity");
    expect(name.nextSibling?.textContent).toBe("1.49");
  });

  test("a job that has ended has no time of arrival but the time that it ran", async () => {
    await show(
      jobOf({
        state: "Succeeded",
        finished: "2026-11-20T12:00:05Z",
        progress: { step: 9, maxSteps: 9, percent: 100, examplesPerSecond: 0, etaSeconds: 60 },
      }),
    );
    expect(await screen.findByText("Ran for")).toBeTruthy();
    expect(screen.getByText("2h")).toBeTruthy();
    expect(screen.queryByText(/left/)).toBeNull();
  });

  test("a job whose pods wait has the time that it waits, not that since its start", async () => {
    const { server } = await show(jobOf({ state: "Pending" }));
    expect(await screen.findByText("Waiting for")).toBeTruthy();
    expect(screen.queryByText("Since its start")).toBeNull();
    await server.send("job", { job: jobOf() });
    expect(await screen.findByText("Since its start")).toBeTruthy();
  });

  test("links to its other pages and keeps the namespace", async () => {
    const server = new FakeServer();
    renderAt(`${PATH}?ns=ml`, { server });
    await server.send("job", { job: jobOf() });
    const tabs = await screen.findByRole("navigation", { name: "Pages of this job" });
    const links = within(tabs).getAllByRole("link");
    expect(links.map((link) => link.getAttribute("href"))).toEqual([
      `${PATH}?ns=ml`,
      `${PATH}/logs?ns=ml`,
      `${PATH}/training?ns=ml`,
      `${PATH}?ns=ml&tab=yaml`,
    ]);
    expect(within(tabs).getByRole("link", { current: "page" }).textContent).toBe("Overview");
  });
});

describe("the message", () => {
  test("is the cluster's sentence, with the worst replica linked to its details", async () => {
    const { user, router } = await show(PULL);
    await screen.findByText(/cannot start: ErrImagePull/);
    await user.click(within(message()).getByRole("button", { name: "worker-1" }));
    expect(router.state.location.search).toBe("?replica=worker-1");
    expect((await screen.findByRole("dialog")).textContent).toContain("Replica worker-1");
  });

  test("says what kind of trouble it is and what to do", async () => {
    await show(PULL);
    await screen.findByText("An image cannot be pulled.");
    expect(message().textContent).toContain("Check the image's name and tag");
    expect(within(message()).getByRole("button", { name: "Details of worker-1" })).toBeTruthy();
  });

  test("leads to the log of what crashes, and to free GPUs where none were", async () => {
    const { server } = await show({ ...PULL, healthReason: "CrashLoop" });
    const log = await screen.findByRole("link", { name: "Log of worker-1" });
    expect(log.getAttribute("href")).toBe(`${PATH}/logs?replica=worker-1`);
    await server.send("job", { job: { ...PULL, healthReason: "Unschedulable" } });
    const gpus = await screen.findByRole("link", { name: "Free GPUs" });
    expect(gpus.getAttribute("href")).toBe("/gpus");
    const replicas = [0, 1, 2].map((at) => replica("worker", at, { state: "Pending", gpus: 4 }));
    await server.send("job", { job: { ...PULL, healthReason: "Unschedulable", replicas } });
    await waitFor(() => expect(gpus.getAttribute("href")).toBe("/gpus?find=3x4"));
  });

  test("does not lead to the log of a program that was not started", async () => {
    const job = { ...PULL, healthReason: "Failed" as const };
    const said = "worker-1 failed: exit code 128 (StartError): exec: trainee: not found";
    await show({ ...job, message: said });
    expect(await screen.findByText(/Its program could not be started/)).toBeTruthy();
    expect(within(message()).queryByRole("link", { name: /Log of/ })).toBeNull();
  });

  test("is never empty: the worst replica, else the state speaks", async () => {
    const { server } = await show({ ...PULL, message: "" });
    expect(await screen.findByText(": An image cannot be pulled")).toBeTruthy();
    await server.send("job", { job: jobOf({ state: "Succeeded" }) });
    expect(await screen.findByText("The job has succeeded.")).toBeTruthy();
    await server.send("job", { job: jobOf({ deleting: true, message: "old news" }) });
    expect(await screen.findByText(/is being deleted: its pods are ending/)).toBeTruthy();
    expect(screen.queryByText("old news")).toBeNull();
  });

  test("a change of state is told to screen readers, politely", async () => {
    const { server } = await show(jobOf());
    await screen.findByText("All is well: the job runs.");
    await server.send("job", { job: jobOf({ state: "Failed", health: "critical" }) });
    await waitFor(() => {
      const said = screen.getAllByRole("status").map((region) => region.textContent);
      expect(said.some((text) => text?.includes("Job bert: Failed, Critical"))).toBe(true);
    });
  });
});

// Symptom: the sentence of a failure stood on the page four times: as headline, condition, event
// and restart.
test("what the headline says is not said again in the time line", async () => {
  const said = "worker-1 failed for good: exit code 1: ValueError: bad shape of the input";
  const at = "2026-11-20T10:00:00Z";
  await show({
    ...PULL,
    state: "Failed",
    healthReason: "Failed",
    message: `${said} (after: Traceback | File "train.py")`,
    conditions: [{ type: "Failed", status: true, reason: "ReplicaFailed", message: said, at }],
    events: [
      { type: "Warning", reason: "ReplicaFailed", message: said, count: 1, at, about: "job" },
    ],
    restartHistory: [
      {
        role: "worker",
        index: 1,
        attempt: 1,
        podNumber: 1,
        cause: "userError",
        message: "exit code 1: ValueError: bad shape of the input",
        node: "",
        at,
      },
    ],
  });
  expect(await screen.findAllByText("as said at the top of this page")).toHaveLength(3);
  expect(document.body.textContent?.split("ValueError").length).toBe(2);
  expect(message().querySelector("pre")?.textContent).toBe('Traceback\nFile "train.py"');
});

// Symptom: a training that had diverged was Healthy and green.
test("a loss that rises is said, with what to do and its curves", async () => {
  await show(jobOf({ health: "warning", healthReason: "LossRises" }));
  await waitFor(() => expect(message().textContent).toContain("Its loss is rising"));
  expect(message().textContent).toContain("A lower learning rate");
  const curves = within(message()).getByRole("link", { name: "Its curves" });
  expect(curves.getAttribute("href")).toBe(`${PATH}/training`);
});

// Symptom: neither the job page nor a replica's details had the CPU and memory that are used,
// though the cluster measures them.
describe("what is used", () => {
  const usage = `api/jobs/ml/trainingjobs/bert/usage`;

  test("is the sum of all pods, and of each replica its own", async () => {
    const server = new FakeServer();
    const pods = {
      "bert-worker-0": { cpu: 1.25, memoryMiB: 512 },
      "bert-worker-1": { cpu: 0.5, memoryMiB: 1024 },
    };
    server.on("GET", usage, () => ({ pods }));
    await show(jobOf(), { server });
    expect((await screen.findByText("CPU used")).nextSibling?.textContent).toBe("1.75 cores");
    expect(screen.getByText("Memory used").nextSibling?.textContent).toBe("1.5 GiB");
  });

  test("is asked for only while something runs", async () => {
    const { server } = await show(jobOf({ state: "Succeeded", replicas: [] }));
    await screen.findByText("The job has succeeded.");
    expect(server.asked.filter(({ path }) => path === usage)).toEqual([]);
  });
});

describe("a job that cannot be shown", () => {
  test("is awaited, with its name as the heading", async () => {
    renderAt(PATH, {});
    expect(await screen.findByRole("heading", { level: 1, name: "bert" })).toBeTruthy();
    expect(screen.getByRole("status", { name: /on its way/ })).toBeTruthy();
  });

  test("does not exist or may not be seen: says so and leads to jobs and history", async () => {
    await show(null);
    expect(await screen.findByText("There is no such job here")).toBeTruthy();
    const history = screen.getByRole("link", { name: "Look in the history" });
    expect(history.getAttribute("href")).toBe("/history?q=bert");
  });

  test("a kind that is none has no page", async () => {
    renderAt("/jobs/ml/pods/bert", {});
    expect(await screen.findByText("There is no such page")).toBeTruthy();
  });

  test("deleted while one looks: keeps what it has, says so, links to history", async () => {
    const { server } = await show(PULL);
    await screen.findByText(/cannot start/);
    await server.send("job", { job: null });
    expect(await screen.findByText("This job has been deleted")).toBeTruthy();
    expect(screen.getByText(/cannot start/)).toBeTruthy();
    const history = screen.getByRole("link", { name: "Open its history" });
    expect(history.getAttribute("href")).toBe("/history/uid-1");
    for (const name of ["Suspend", "Scale workers", "Clone", "Delete"]) {
      const button = screen.getByRole("button", { name });
      expect(button.getAttribute("aria-disabled")).toBe("true");
    }
  });

  test("deleted by whoever looks: says so, and leads to the history and to the jobs", async () => {
    const server = new FakeServer();
    server.on("DELETE", "api/jobs/ml/trainingjobs/bert", () => undefined);
    const { user } = await show(jobOf(), { server });
    await user.click(await screen.findByRole("button", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Delete" }));
    await server.send("job", { job: null });
    expect(await screen.findByText("You deleted this job.")).toBeTruthy();
    expect(screen.queryByText(/It went while you looked/)).toBeNull();
    const history = screen.getByRole("link", { name: "Open its history" });
    expect(history.getAttribute("href")).toBe("/history/uid-1");
    const banner = history.closest(".job-gone") as HTMLElement;
    expect(within(banner).getByRole("link", { name: en.shell.toJobs })).toBeTruthy();
  });

  test("whose deletion was refused, and that goes later, was not deleted by him", async () => {
    const server = new FakeServer();
    server.on("DELETE", "api/jobs/ml/trainingjobs/bert", () => problem(403, "Forbidden", "no"));
    const { user } = await show(jobOf(), { server });
    await user.click(await screen.findByRole("button", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Delete" }));
    await screen.findByText("The job was not deleted");
    await server.send("job", { job: null });
    expect(await screen.findByText("This job has been deleted")).toBeTruthy();
  });

  test("without a history there is no link to it", async () => {
    const server = new FakeServer(session({ historyDays: 0 }));
    await show(null, { server });
    await screen.findByText("There is no such job here");
    expect(screen.queryByRole("link", { name: "Look in the history" })).toBeNull();
  });

  test("of another job nothing of the one before stays", async () => {
    const { server, router } = await show(PULL);
    await screen.findByText(/cannot start/);
    await router.navigate("/jobs/ml/trainingjobs/other");
    await screen.findByRole("heading", { level: 1, name: "other" });
    await waitFor(() => {
      expect(server.streams.at(-1)?.query.get("job")).toBe("ml/trainingjobs/other");
    });
    await server.send("job", { job: null });
    expect(await screen.findByText("There is no such job here")).toBeTruthy();
    expect(screen.queryByText(/cannot start/)).toBeNull();
  });
});

test("a stream that is refused shows the refusal where the job would be", async () => {
  const server = new FakeServer();
  server.on("GET", "api/stream", () => problem(403, "Forbidden", "no namespace may be listed"));
  renderAt(PATH, { server });
  expect(await screen.findByText("This job cannot be read")).toBeTruthy();
  expect(screen.getByText("no namespace may be listed")).toBeTruthy();
});

test("hostile strings are text, wherever they stand", async () => {
  const { container, server } = await show(
    jobOf({
      message: `${HOSTILE} worker-0 fails`,
      owner: HOSTILE,
      queue: HOSTILE,
      restartsByCause: { [HOSTILE]: 2 },
      conditions: [
        { type: HOSTILE, status: true, reason: HOSTILE, message: HOSTILE, at: HOSTILE },
      ],
      events: [
        {
          type: "Warning",
          reason: HOSTILE,
          message: HOSTILE,
          count: 1,
          at: "2026-11-20T10:00:00Z",
          about: HOSTILE,
        },
      ],
      replicas: [replica("worker", 0, { node: HOSTILE, message: HOSTILE, pod: HOSTILE })],
    }),
  );
  await screen.findByText(/fails/);
  await server.send("job", { job: jobOf({ message: HOSTILE.repeat(200) }) });
  await waitFor(() => expect(message().textContent?.length).toBeGreaterThan(5000));
  expect(container.querySelectorAll("img[src=x]")).toHaveLength(0);
  for (const element of container.querySelectorAll("bdi")) {
    expect(element.querySelector("script, img")).toBeNull();
  }
});

test("the page is Chinese where the user reads Chinese", async () => {
  await show(PULL, { language: "zh" });
  expect(await screen.findByText("无法拉取镜像。")).toBeTruthy();
  expect(screen.getByRole("button", { name: "暂停" })).toBeTruthy();
  expect(screen.getByRole("heading", { name: "时间线" })).toBeTruthy();
});
