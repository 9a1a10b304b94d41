// What one can do with a job, why one cannot, and how it goes.

import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import type { JobDetail } from "../../../api/types";
import { FakeServer, problem, session } from "../../../testing/fake_server";
import { renderAt } from "../../../testing/render";
import { jobOf } from "../job_fixture";
import { PENDING_MAX_MS } from "./use_job_changes";
import "../patience";

const API = "api/jobs/ml/trainingjobs/bert";

async function show(job: JobDetail, server = new FakeServer()) {
  const rendered = renderAt("/jobs/ml/trainingjobs/bert", { server });
  await server.send("job", { job });
  await screen.findByRole("group", { name: "What you can do with this job" });
  return rendered;
}

function button(name: string): HTMLElement {
  return screen.getByRole("button", { name });
}

/** The reason that a screen reader reads after the button's name. */
function whyOf(name: string): string | null | undefined {
  const id = button(name).getAttribute("aria-describedby");
  return id === null ? undefined : document.getElementById(id)?.textContent;
}

describe("a button that is disabled", () => {
  test("says that a right is missing, and is reached by the keyboard", async () => {
    const access = { update: false, delete: false, create: false, logs: true };
    const { user, server } = await show(jobOf({ access }));
    expect(whyOf("Suspend")).toContain("You may not change a TrainingJob in ml");
    expect(whyOf("Scale workers")).toContain("patch");
    expect(whyOf("Delete")).toContain("You may not delete");
    expect(whyOf("Clone")).toContain("You may not create");
    button("Suspend").focus();
    expect(document.activeElement).toBe(button("Suspend"));
    expect(await screen.findByRole("tooltip")).toBeTruthy();
    await user.keyboard("{Enter}");
    expect(server.asked.filter(({ method }) => method !== "GET")).toHaveLength(0);
  });

  test("says that the dashboard is read-only", async () => {
    await show(jobOf(), new FakeServer(session({ readOnly: true })));
    for (const name of ["Suspend", "Scale workers", "Clone", "Delete"]) {
      expect(whyOf(name)).toContain("read-only");
    }
  });

  test("says that the state makes no sense for it", async () => {
    const { server } = await show(jobOf({ state: "Succeeded" }));
    expect(whyOf("Suspend")).toBe("The job has ended.");
    expect(whyOf("Scale workers")).toBe("The job has ended.");
    expect(whyOf("Delete")).toBeUndefined();
    await server.send("job", { job: jobOf({ deleting: true }) });
    await waitFor(() => expect(whyOf("Delete")).toBe("The job is being deleted."));
    await server.send("job", { job: jobOf({ roles: [] }) });
    await waitFor(() => expect(whyOf("Scale workers")).toBe("This job has no workers."));
  });
});

describe("suspend and resume", () => {
  test("ask first where the training would begin anew", async () => {
    const server = new FakeServer();
    const trainer: Record<string, unknown> = { maxSteps: 9 };
    server.on("GET", `${API}/manifest`, () => ({ spec: { trainer } }));
    server.on("PATCH", API, () => ({}));
    const { user } = await show(jobOf(), server);
    const changes = () => server.asked.filter(({ method }) => method === "PATCH");
    await user.click(button("Suspend"));
    await screen.findByText(/it begins again at step 0/);
    await user.click(button("Cancel"));
    expect(changes()).toHaveLength(0);
    trainer.checkpoint = { dir: "/out" };
    await user.click(button("Suspend"));
    await waitFor(() => expect(changes()).toHaveLength(1));
  });

  test("are on their way until the stream shows them", async () => {
    const server = new FakeServer();
    server.on("PATCH", API, () => ({}));
    const { user } = await show(jobOf(), server);
    await user.click(button("Suspend"));
    const busy = await screen.findByRole("button", { name: /Suspending/ });
    expect(busy.getAttribute("aria-busy")).toBe("true");
    expect(whyOf("Delete")).toBe("Another change is on its way.");
    expect(server.asked.at(-1)).toMatchObject({ method: "PATCH", body: '{"suspend":true}' });
    await server.send("job", { job: jobOf({ suspended: true, state: "Suspended" }) });
    await user.click(await screen.findByRole("button", { name: "Resume" }));
    await screen.findByRole("button", { name: /Resuming/ });
    expect(server.asked.at(-1)?.body).toBe('{"suspend":false}');
    await server.send("job", { job: jobOf() });
    expect(await screen.findByRole("button", { name: "Suspend" })).toBeTruthy();
  });

  test("that somebody else takes back do not come back as ours", async () => {
    const server = new FakeServer();
    server.on("PATCH", API, () => ({}));
    const { user } = await show(jobOf(), server);
    await user.click(button("Suspend"));
    await server.send("job", { job: jobOf({ suspended: true }) });
    await screen.findByRole("button", { name: "Resume" });
    await server.send("job", { job: jobOf() });
    expect(await screen.findByRole("button", { name: "Suspend" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Suspending/ })).toBeNull();
  });

  test("that the stream never shows give the buttons back after a while", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    try {
      const server = new FakeServer();
      server.on("PATCH", API, () => ({}));
      await show(jobOf(), server);
      fireEvent.click(button("Suspend"));
      await screen.findByRole("button", { name: /Suspending/ });
      act(() => void vi.advanceTimersByTime(PENDING_MAX_MS));
      expect(button("Suspend").getAttribute("aria-busy")).toBe("false");
    } finally {
      vi.useRealTimers();
    }
  });

  test("that fail say what was attempted, why, and what to do", async () => {
    const server = new FakeServer();
    server.on("PATCH", API, () => problem(409, "Conflict", "the object has been modified"));
    const { user } = await show(jobOf(), server);
    await user.click(button("Suspend"));
    const alert = await screen.findByText("The job was not suspended");
    const panel = alert.closest<HTMLElement>(".job-failure")!;
    expect(panel.textContent).toContain("It has changed meanwhile");
    expect(panel.textContent).toContain("then try again");
    expect(panel.textContent).toContain("the object has been modified");
    expect(button("Suspend").getAttribute("aria-busy")).toBe("false");
    await user.click(within(panel).getByRole("button", { name: "Close" }));
    expect(screen.queryByText("The job was not suspended")).toBeNull();
  });
});

describe("scaling", () => {
  async function open(job = jobOf()) {
    const server = new FakeServer();
    server.on("PATCH", API, () => ({}));
    const rendered = await show(job, server);
    await rendered.user.click(button("Scale workers"));
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain("Scale the workers of bert");
    const input = within(dialog).getByRole<HTMLInputElement>("spinbutton", {
      name: "Number of workers",
    });
    const ok = within(dialog).getByRole<HTMLButtonElement>("button", { name: "Scale workers" });
    return { ...rendered, server, dialog, input, ok };
  }

  test("starts from the present number, which is no change", async () => {
    const { input, ok, dialog } = await open();
    expect(input.value).toBe("3");
    expect(ok.disabled).toBe(true);
    expect(dialog.textContent).toContain("That is how many there are.");
  });

  test("says what is wrong with a number, at the field", async () => {
    const { user, input, ok } = await open();
    await user.clear(input);
    await user.type(input, "10001");
    expect(input.getAttribute("aria-invalid")).toBe("true");
    const said = document.getElementById(input.getAttribute("aria-describedby") ?? "");
    expect(said?.textContent).toBe("Give a number from 0 to 10,000.");
    expect(ok.disabled).toBe(true);
  });

  test("holds to the bounds of an elastic job", async () => {
    const elastic = { minReplicas: 2, maxReplicas: 6 };
    const roles = jobOf().roles.map((role) =>
      role.role === "worker" ? { ...role, elastic } : role,
    );
    const { user, input, ok, dialog } = await open(jobOf({ roles }));
    expect([input.min, input.max]).toEqual(["2", "6"]);
    for (const text of ["7", "1"]) {
      await user.clear(input);
      await user.type(input, text);
      expect(dialog.textContent).toContain("Give a number from 2 to 6.");
      expect(ok.disabled).toBe(true);
    }
  });

  test("says what it does, and asks for it once", async () => {
    const { user, input, ok, dialog, server } = await open();
    await user.clear(input);
    await user.type(input, "1");
    expect(dialog.textContent).toContain("The pods of worker-1 to worker-2 end.");
    await user.clear(input);
    await user.type(input, "5");
    expect(dialog.textContent).toContain("2 pods are added, which ask for 4 GPUs in all.");
    await user.click(ok);
    await screen.findByRole("button", { name: /Scaling/ });
    const writes = server.asked.filter(({ method }) => method === "PATCH");
    expect(writes.map(({ body }) => body)).toEqual(['{"workers":5}']);
    const roles = jobOf().roles.map((role) =>
      role.role === "worker" ? { ...role, desired: 5 } : role,
    );
    await server.send("job", { job: jobOf({ roles }) });
    expect(await screen.findByRole("button", { name: "Scale workers" })).toBeTruthy();
  });
});

describe("deleting", () => {
  test("asks first, and says what ends and what stays", async () => {
    const server = new FakeServer();
    server.on("DELETE", API, () => undefined);
    const { user } = await show(jobOf({ finishedFor: { ttlSeconds: 86400 } }), server);
    await user.click(button("Delete"));
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain("Delete the job ml/bert?");
    expect(dialog.textContent).toContain("5 pods end and 6 GPUs are free again");
    expect(dialog.textContent).toContain("Checkpoints and all that was written to volumes stay");
    expect(dialog.textContent).toContain("stay in the history for 30 days");
    expect(dialog.textContent).toContain("It would go by itself 1d after its end");
    expect(server.asked.some(({ method }) => method === "DELETE")).toBe(false);
    await user.click(within(dialog).getByRole("button", { name: "Delete" }));
    await screen.findByRole("button", { name: /Deleting/ });
    expect(server.asked.at(-1)).toMatchObject({ method: "DELETE", path: API });
  });

  test("does nothing when one changes one's mind", async () => {
    const { user, server } = await show(jobOf());
    await user.click(button("Delete"));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Cancel" }));
    expect(server.asked.some(({ method }) => method === "DELETE")).toBe(false);
  });

  test("without a history says that all is lost", async () => {
    const { user } = await show(jobOf(), new FakeServer(session({ historyDays: 0 })));
    await user.click(button("Delete"));
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain("keeps no history");
  });
});

test("cloning opens the page that submits, with this job", async () => {
  const { user, router } = await show(jobOf());
  await user.click(button("Clone"));
  expect(router.state.location.pathname).toBe("/submit");
  const search = new URLSearchParams(router.state.location.search);
  expect(search.get("clone")).toBe("ml/trainingjobs/bert");
});
