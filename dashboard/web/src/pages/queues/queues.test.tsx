import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { QueueList } from "../../api/types";
import { FakeServer } from "../../testing/fake_server";
import type { Rendered } from "../../testing/render";
import { renderAt } from "../../testing/render";
import { entry, queue } from "./fixture";
// Loaded with the test: the page's route would load it while the first test waits.
import "./index";

async function show(list: QueueList, path = "/queues", language?: "zh"): Promise<Rendered> {
  const server = new FakeServer();
  const rendered = renderAt(path, { server, ...(language ? { language } : {}) });
  await waitFor(() => expect(server.streams.at(-1)?.query.get("queues")).toBe("1"));
  await act(() => server.send("queues", list));
  return rendered;
}

const lines = (): string[] =>
  within(screen.getByRole("table"))
    .getAllByRole("row")
    .slice(1)
    .map((line) => line.textContent);

const BUILTIN: QueueList = {
  source: "builtin",
  queues: [
    queue("", {
      inOrder: true,
      usage: [{ resource: "nvidia.com/gpu", flavor: "H100", used: 6, nominal: 16 }],
      admitted: 2,
      waiting: 4,
      hidden: 1,
      pending: [
        entry("mnist", 2, { reason: "0/4 nodes are available: 4 Insufficient nvidia.com/gpu." }),
        entry("bert", 3, { gpus: 0, reason: "" }),
      ],
    }),
  ],
};

const A = entry("a", 1, { priority: 1000 });
const B = entry("b", 2, { namespace: "vision", queue: "eyes" });
const KUEUE: QueueList = {
  source: "kueue",
  queues: [
    queue("research", {
      cohort: "all",
      strategy: "StrictFIFO",
      usage: [
        { resource: "nvidia.com/gpu", flavor: "h100", used: 20, nominal: 16, borrowed: 4 },
        { resource: "memory", flavor: "h100", used: 2 ** 34, nominal: 2 ** 35 },
        { resource: "cpu", flavor: "spot", nominal: 10 },
      ],
      admitted: 3,
      waiting: 3,
      hidden: 1,
      pending: [entry("r", 0, { state: "reserved", reason: "provision: no machine" }), A, B],
    }),
    queue("batch", { stopped: true, message: "is stopped" }),
    queue("team", { namespace: "ml", clusterQueue: "research", waiting: 1, pending: [A] }),
    queue("eyes", { namespace: "vision", clusterQueue: "research", waiting: 1, pending: [B] }),
    queue("typo", { namespace: "vision", missing: true }),
  ],
};

test("without Kueue the order is told, and that it is no promise", async () => {
  await show(BUILTIN);
  expect(screen.getByText(/finds no Kueue.*a later one may start first/)).toBeDefined();
  expect(screen.getByText("4 wait")).toBeDefined();
  const card = screen.getByRole("article", { name: "The cluster" });
  expect(card.textContent).toContain("H100 nvidia.com/gpu6 of 16");
  expect(card.textContent).toContain("2 jobs run4 jobs wait (1 of them not yours to see)");
  const [first, second] = lines();
  expect(first).toMatch(/^2ml\/mnist8ada.*0\/4 nodes are available/);
  expect(second).toMatch(/^3ml\/bert0ada.*Nobody has looked at it yet\.$/);
  expect(screen.getByText("1 more waits behind these.")).toBeDefined();
  const link = screen.getByRole("link", { name: "ml/mnist" });
  expect(link.getAttribute("href")).toBe("/jobs/ml/trainingjobs/mnist");
  const place = screen.getByTitle("1 before it, also those that you may not see");
  expect(place.textContent).toBe("2");
  // There is no other queue to leave out.
  expect(screen.queryByRole("button", { name: "Show only its jobs" })).toBeNull();
  // Columns that only Kueue has.
  expect(screen.queryByRole("columnheader", { name: "Priority" })).toBeNull();
});

test("of Kueue each queue shows its usage, what it borrows and what is wrong with it", async () => {
  await show(KUEUE);
  const research = screen.getByRole("article", { name: "research" });
  expect(research.textContent).toContain("cohort all");
  expect(research.textContent).toContain("strict order");
  expect(research.textContent).toContain("h100 nvidia.com/gpu20 of 16 · 4 borrowed");
  expect(research.textContent).not.toContain("more than the quota");
  expect(research.textContent).toContain("h100 memory16 GiB of 32 GiB");
  expect(research.textContent).toContain("spot cpuusage unknown · quota 10");
  expect(screen.getByRole("article", { name: "batch" }).textContent).toContain("stoppedis stopped");
  expect(screen.getByRole("article", { name: "typo" }).textContent).toContain("does not exist");
  expect(lines().map((line) => line.slice(0, 12))).toEqual([
    "has quotaml/",
    "1ml/ateam of",
    "2ml/beyes of",
  ]);
});

test("one queue shows only those who wait in it, and the URL says which", async () => {
  const { user, router } = await show(KUEUE);
  const team = screen.getByRole("article", { name: "team" });
  await user.click(within(team).getByRole("button", { name: "Show only its jobs" }));
  expect(lines()).toHaveLength(1);
  expect(router.state.location.search).toBe("?queue=ml%2Fteam");
  expect(screen.getByRole("heading", { name: /Jobs that wait in team/ })).toBeDefined();
  await user.click(within(team).getByRole("button", { name: "Show all queues" }));
  expect(lines()).toHaveLength(3);
});

test("a namespace shows its own queues and jobs", async () => {
  await show(KUEUE, "/queues?ns=vision");
  expect(screen.queryByRole("article", { name: "team" })).toBeNull();
  expect(screen.getByRole("article", { name: "research" })).toBeDefined();
  expect(lines()).toHaveLength(1);
});

test("usage beyond a quota that nothing is borrowed for is called out", async () => {
  const usage = [{ resource: "nvidia.com/gpu", used: 9, nominal: 8 }];
  await show({ source: "kueue", queues: [queue("q", { usage })] });
  expect(screen.getByText(/more than the quota/)).toBeDefined();
});

test("where nobody waits, and where no queue is in sight, the page says so", async () => {
  const { server } = await show({ source: "builtin", queues: [queue("", { inOrder: true })] });
  expect(screen.getByText("Nobody waits.")).toBeDefined();
  await act(() => server.send("queues", { source: "kueue", queues: [] }));
  expect(screen.getByText(/you may see none of its queues/)).toBeDefined();
});

test("a workload that is no job of ours has a place and no link", async () => {
  const foreign = entry("other", 1);
  delete foreign.job;
  await show({ source: "kueue", queues: [queue("q", { waiting: 1, pending: [foreign] })] });
  expect(lines()[0]).toContain("ml/other");
  expect(within(screen.getByRole("table")).queryByRole("link")).toBeNull();
});

test("of a long line the first hundred show, and more when asked for", async () => {
  const pending = Array.from({ length: 150 }, (_, i) => entry(`j${i}`, i + 1));
  const { user } = await show({
    source: "builtin",
    queues: [queue("", { inOrder: true, waiting: 150, pending })],
  });
  expect(lines()).toHaveLength(100);
  await user.click(screen.getByRole("button", { name: "Show 50 more" }));
  expect(lines()).toHaveLength(150);
});

test("hostile texts stay texts", async () => {
  const evil = "\u202e<b>x</b>".repeat(2000);
  await show({
    source: "kueue",
    queues: [
      queue(evil, {
        message: evil,
        cohort: evil,
        strategy: evil,
        usage: [{ resource: evil, flavor: evil, used: 1e300, nominal: -1, borrowed: -3 }],
        waiting: 1,
        pending: [entry(evil, 1, { reason: evil, queue: evil, since: "never" })],
      }),
    ],
  });
  expect(lines()).toHaveLength(1);
  expect(document.querySelector("main b b")).toBeNull();
});

test("in Chinese nothing is left in English but names", async () => {
  await show(KUEUE, "/queues", "zh");
  const research = screen.getByRole("article", { name: "research" });
  expect(research.textContent).toContain("20 / 16 · 借用 4");
  expect(lines()[0]).toMatch(/^已获配额/);
});

test("a namespace in which nobody waits has its heading, too", async () => {
  await show(BUILTIN, "/queues?ns=quiet");
  screen.getByRole("heading", { level: 1, name: "Queues" });
  await screen.findByText(/quiet/, { selector: "bdi" });
  expect(screen.getByText("0 wait")).toBeTruthy();
});

test("the usage of simulated GPUs is told in the user's language", async () => {
  const usage = [{ resource: "nvidia.com/gpu", flavor: "simulated", used: 0, nominal: 2 }];
  const list: QueueList = { source: "builtin", queues: [queue("", { inOrder: true, usage })] };
  await show(list, "/queues", "zh");
  expect(screen.getByText("模拟")).toBeTruthy();
});
