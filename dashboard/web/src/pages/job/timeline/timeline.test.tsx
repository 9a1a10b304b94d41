// What has happened, on the page.

import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { JobDetail } from "../../../api/types";
import { FakeServer } from "../../../testing/fake_server";
import { renderAt } from "../../../testing/render";
import { jobOf } from "../job_fixture";
import "../patience";

async function show(more: Partial<JobDetail>) {
  const server = new FakeServer();
  const rendered = renderAt("/jobs/ml/trainingjobs/bert", { server });
  await server.send("job", { job: jobOf(more) });
  const section = await screen.findByRole("region", { name: "Time line" });
  return { ...rendered, section };
}

/** The entries in the order of the page, without their times. */
function entries(section: HTMLElement): (string | null)[] {
  const items = within(section).queryAllByRole("listitem");
  return items.map((item) => (item.querySelector(".job-entry-text") ?? item).textContent);
}

const SOME: Partial<JobDetail> = {
  attempt: 2,
  restarts: 3,
  restartsByCause: { outOfMemory: 2, killed: 1, nodeLost: 0 },
  conditions: [
    {
      type: "Running",
      status: true,
      reason: "JobRunning",
      message: "all replicas run",
      at: "2026-11-20T10:02:00Z",
    },
  ],
  events: [
    {
      type: "Warning",
      reason: "BackOff",
      message: "Back-off pulling image",
      count: 12,
      at: "2026-11-20T10:05:00Z",
      about: "worker-1",
    },
    {
      type: "Normal",
      reason: "Pulled",
      message: "",
      count: 1,
      at: "2026-11-20T10:01:00Z",
      about: "worker-0",
    },
  ],
  restartHistory: [
    {
      role: "worker",
      index: 1,
      attempt: 1,
      podNumber: 1,
      cause: "outOfMemory",
      exitCode: 137,
      message: "exit code 137",
      node: "node-9",
      at: "2026-11-20T10:03:00Z",
    },
  ],
};

test("conditions, events and restarts stand newest first under their day", async () => {
  const { section } = await show(SOME);
  expect(entries(section)).toEqual([
    "Friday, 20 November 2026",
    "Warning: BackOff worker-112 timesBack-off pulling image",
    "Attempt 2",
    "Restart: Out of memory worker-1 pod 1 of attempt 1 · exit code 137 · on node-9exit code 137",
    "Condition: Running all replicas run",
    "Event: Pulled worker-0",
  ]);
});

test("kinds are switches, and one replica can be chosen", async () => {
  const { section, user } = await show(SOME);
  const warnings = within(section).getByRole("button", { name: "Warnings 1" });
  await user.click(warnings);
  expect(warnings.getAttribute("aria-pressed")).toBe("true");
  expect(entries(section).join()).toContain("BackOff");
  expect(entries(section).join()).not.toContain("Pulled");
  await user.click(warnings);
  await user.click(within(section).getByRole("combobox", { name: "About" }));
  await user.click(await screen.findByTitle("worker-0"));
  expect(entries(section).join()).toContain("Pulled");
  expect(entries(section).join()).not.toContain("BackOff");
});

test("a replica's name opens its details", async () => {
  const { section, user, router } = await show(SOME);
  await user.click(within(section).getAllByRole("button", { name: "worker-1" })[0]!);
  expect(router.state.location.search).toBe("?replica=worker-1");
});

test("restarts are counted by cause, the most frequent first", async () => {
  const { section } = await show(SOME);
  const causes = section.querySelector(".job-causes dl");
  expect(causes?.textContent).toBe("Out of memory2Killed1");
});

test("a long history shows its newest part, and more when asked", async () => {
  const events = Array.from({ length: 500 }, (_, index) => ({
    type: "Normal" as const,
    reason: `E${index}`,
    message: "",
    count: 1,
    at: new Date(Date.UTC(2026, 10, 20) + index * 1000).toISOString(),
    about: "job",
  }));
  const { section, user } = await show({ events });
  expect(within(section).getAllByText(/^E\d+$/)).toHaveLength(60);
  expect(within(section).getByText("E499")).toBeTruthy();
  await user.click(within(section).getByRole("button", { name: "Show 440 more" }));
  expect(within(section).getAllByText(/^E\d+$/)).toHaveLength(240);
});

test("nothing yet is said in words", async () => {
  const { section } = await show({});
  expect(section.textContent).toContain("Nothing has been recorded yet.");
});
