import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { JobRow } from "../../api/types";
import { FakeServer, problem, session } from "../../testing/fake_server";
import { renderAt } from "../../testing/render";
import { row } from "../../testing/rows";
import { spared } from "./bulk";

const ROWS = [
  row("a"),
  row("b", { kind: "TFJob" }),
  row("done", { state: "Succeeded" }),
  row("still", { state: "Suspended" }),
];

async function selectAll(server: FakeServer, rows: JobRow[] = ROWS) {
  const rendered = renderAt("/jobs", { server });
  await server.send("jobs", { full: true, rows, gone: [] });
  await rendered.user.click(await screen.findByRole("checkbox", { name: /Select all/ }));
  return rendered;
}

const writes = (server: FakeServer): string[] =>
  server.asked
    .filter(({ method }) => method !== "GET")
    .map(({ method, path, body }) => `${method} ${path} ${body}`.trim())
    .sort();

const titleOf = (dialog: HTMLElement): string | null | undefined =>
  dialog.querySelector(".ant-modal-title")?.textContent;

// Symptom: comparing was only to be found on one job's page of curves.
test("jobs that are ticked can be compared", async () => {
  const { user, router } = await selectAll(new FakeServer(), ROWS.slice(0, 3));
  await user.click(screen.getByRole("button", { name: "Compare" }));
  const { pathname, search } = router.state.location;
  expect(pathname).toBe("/jobs/ml/trainingjobs/a/training");
  expect(new URLSearchParams(search).get("with")).toBe("ml/tfjobs/b,ml/trainingjobs/done");
});

test("one job alone is compared with nothing, and it is said what to do", async () => {
  await selectAll(new FakeServer(), ROWS.slice(0, 1));
  const button = screen.getByRole<HTMLButtonElement>("button", { name: "Compare" });
  expect(button.disabled).toBe(true);
  expect(button.title).toMatch(/^Tick two to \d+ jobs/);
});

// Symptom: a job that had failed needed attention until it was deleted, whatever came of it.
test("what one has seen needs no attention any more, until its reason changes", async () => {
  const server = new FakeServer();
  const bad = row("bad", { state: "Failed", health: "critical", healthReason: "Failed" });
  const rendered = renderAt("/jobs", { server });
  await server.send("jobs", { full: true, rows: [bad, row("well")], gone: [] });
  const figure = (): string | null =>
    screen.getByRole("button", { name: /Need attention/ }).textContent;
  await screen.findByRole("link", { name: "bad" });
  expect(figure()).toMatch(/^1/);
  await rendered.user.click(screen.getByRole("checkbox", { name: "Select bad" }));
  await rendered.user.click(screen.getByRole("button", { name: "Mark as seen" }));
  await waitFor(() => expect(figure()).toMatch(/^0/));
  expect(screen.getByTitle(/^The job has failed. You have marked this/).textContent).toBe("Seen");
  rendered.unmount();
  // It is kept in this browser.
  const later = new FakeServer();
  const again = renderAt("/jobs", { server: later });
  await later.send("jobs", { full: true, rows: [bad], gone: [] });
  await screen.findByText("Seen");
  await again.user.click(screen.getByRole("checkbox", { name: "Select bad" }));
  expect(screen.getByRole("button", { name: "Mark as not seen" })).toBeTruthy();
  const worse = { ...bad, healthReason: "OutOfMemory" as const };
  await later.send("jobs", { full: false, rows: [worse], gone: [] });
  await waitFor(() => expect(figure()).toMatch(/^1/));
});

describe("actions for several jobs", () => {
  test("ask first, say what will happen to whom, and tell the result of each", async () => {
    const server = new FakeServer();
    server.on("PATCH", "api/jobs/ml/trainingjobs/a", () => undefined);
    server.on("PATCH", "api/jobs/ml/tfjobs/b", () =>
      problem(403, "Forbidden", "ada may not patch tfjobs in ml"),
    );
    const { user } = await selectAll(server);
    await user.click(screen.getByRole("button", { name: "Suspend" }));
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain("Suspend 2 jobs?");
    expect(dialog.textContent).toContain("Their pods are stopped");
    expect(dialog.textContent).toContain("left alone: it has ended");
    expect(dialog.textContent).toContain("left alone: it is suspended");
    expect(writes(server)).toEqual([]);
    await user.click(within(dialog).getByRole("button", { name: "Suspend" }));
    await within(dialog).findByText(/Done for 1 job; 1 failed\./);
    expect(writes(server)).toEqual([
      'PATCH api/jobs/ml/tfjobs/b {"suspend":true}',
      'PATCH api/jobs/ml/trainingjobs/a {"suspend":true}',
    ]);
    expect(dialog.textContent).toContain("suspended");
    expect(dialog.textContent).toContain("You may not do this: ada may not patch tfjobs in ml");
    await user.click(within(dialog).getByRole("button", { name: "Close" }));
    await waitFor(() => expect(screen.queryByText(/selected/)).toBeNull());
  });

  test("take all jobs by the words beside the box, too, which a phone shows", async () => {
    const server = new FakeServer();
    const { user } = renderAt("/jobs", { server });
    await server.send("jobs", { full: true, rows: ROWS, gone: [] });
    await user.click(await screen.findByText("Select all that show"));
    await screen.findByText("4 jobs selected");
  });

  test("do nothing when one changes one's mind", async () => {
    const server = new FakeServer();
    const { user } = await selectAll(server);
    await user.click(screen.getByRole("button", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain("Delete 4 jobs?");
    expect(dialog.textContent).toContain("cannot be undone");
    await user.click(within(dialog).getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(writes(server)).toEqual([]);
    expect(screen.getByText("4 jobs selected")).toBeTruthy();
  });

  test("say in the title that there is nothing to do, or what has been done", async () => {
    const server = new FakeServer();
    server.on("DELETE", "api/jobs/ml/trainingjobs/done", () => undefined);
    const { user } = await selectAll(server, [row("done", { state: "Succeeded" })]);
    await user.click(screen.getByRole("button", { name: "Suspend" }));
    const none = await screen.findByRole("dialog");
    expect(titleOf(none)).toBe("None of these jobs can be suspended");
    await user.click(within(none).getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    await user.click(screen.getByRole("button", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog");
    expect(titleOf(dialog)).toBe("Delete 1 job?");
    await user.click(within(dialog).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(titleOf(dialog)).toBe("1 job deleted"));
  });

  test("say of a deletion what the history keeps, as that of a single job does", async () => {
    const first = await selectAll(new FakeServer());
    await first.user.click(screen.getByRole("button", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain("last log lines stay in the history for 30 days.");
    first.unmount();
    const { user } = await selectAll(new FakeServer(session({ historyDays: 0 })));
    await user.click(screen.getByRole("button", { name: "Delete" }));
    expect((await screen.findByRole("dialog")).textContent).toContain("keeps no history");
  });

  test("leave alone what the filter hides", async () => {
    const server = new FakeServer();
    server.on("DELETE", "api/jobs/ml/trainingjobs/a", () => undefined);
    const { user } = await selectAll(server, [row("a"), row("b")]);
    await user.type(screen.getByRole("searchbox"), "ml/a");
    await screen.findByText("1 job selected");
    await user.click(screen.getByRole("button", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Delete" }));
    await within(dialog).findByText("Done for 1 job.");
    expect(writes(server)).toEqual(["DELETE api/jobs/ml/trainingjobs/a"]);
  });

  test("are disabled, with the reason, where nothing may be changed", async () => {
    await selectAll(new FakeServer(session({ readOnly: true })));
    for (const name of ["Suspend", "Resume", "Delete"]) {
      expect(screen.getByRole("button", { name })).toHaveProperty("disabled", true);
    }
    expect(screen.getByText(/started read-only/)).toBeTruthy();
  });

  test("apply to jobs that they change", () => {
    expect(spared("resume", row("a"))).toBe("notSuspended");
    expect(spared("resume", row("a", { state: "Suspended" }))).toBeUndefined();
    expect(spared("suspend", row("a", { state: "Failed" }))).toBe("ended");
    expect(spared("delete", row("a", { state: "Failed" }))).toBeUndefined();
    expect(spared("delete", row("a", { deleting: true }))).toBe("deleting");
  });
});
