// The replicas as squares and as a table.

import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import type { JobDetail, Replica } from "../../../api/types";
import { FakeServer } from "../../../testing/fake_server";
import { renderAt } from "../../../testing/render";
import { HOSTILE, jobOf, replica } from "../job_fixture";
import "../patience";

const PATH = "/jobs/ml/trainingjobs/bert";

async function show(job: JobDetail, search = "") {
  const server = new FakeServer();
  const rendered = renderAt(`${PATH}${search}`, { server });
  await server.send("job", { job });
  await screen.findByRole("heading", { name: "Replicas" });
  return { ...rendered, server };
}

const square = (name: RegExp): HTMLElement => screen.getByRole("gridcell", { name });

const MIXED: Replica[] = [
  replica("chief", 0),
  replica("worker", 0),
  replica("worker", 1, {
    state: "Failed",
    health: "critical",
    healthReason: "PodFailed",
    message: "Error: diverged",
    exitCode: 1,
  }),
  replica("worker", 2, { state: "Missing", pod: undefined, node: undefined }),
];

describe("the grid", () => {
  test("has one row per role and one square per replica, named in words", async () => {
    await show(jobOf({ replicas: MIXED }));
    const grid = screen.getByRole("grid", { name: "Replicas: 4, by role" });
    const headers = within(grid).getAllByRole("rowheader");
    expect(headers.map(({ textContent }) => textContent)).toEqual(["chief 1/1", "worker 3/3"]);
    const names = within(grid)
      .getAllByRole("gridcell")
      .map((cell) => cell.getAttribute("aria-label"));
    expect(names).toEqual([
      "chief-0, Running, node-0",
      "worker-0, Running, node-0",
      "worker-1, Failed, Critical, node-1, Error: diverged",
      "worker-2, Missing",
    ]);
  });

  test("tells states apart by picture and health by ring, not by colour alone", async () => {
    await show(jobOf({ replicas: MIXED }));
    const pictures = [/chief-0/, /worker-1/, /worker-2/].map(
      (name) => square(name).querySelector("path")?.getAttribute("d"),
    );
    expect(new Set(pictures).size).toBe(3);
    expect(square(/worker-1/).className).toContain("job-ring-critical");
    expect(square(/chief-0/).className).not.toContain("job-ring");
  });

  test("is one stop of the tab key; arrows move, Enter opens the details", async () => {
    const { user, router } = await show(jobOf({ replicas: MIXED }));
    const stops = screen.getAllByRole("gridcell").filter(({ tabIndex }) => tabIndex === 0);
    expect(stops).toHaveLength(1);
    stops[0]?.focus();
    await user.keyboard("{ArrowDown}");
    await waitFor(() => expect(document.activeElement).toBe(square(/worker-0/)));
    await user.keyboard("{ArrowRight}");
    await waitFor(() => expect(document.activeElement).toBe(square(/worker-1/)));
    await user.keyboard("{Enter}");
    expect(router.state.location.search).toBe("?replica=worker-1");
    expect((await screen.findByRole("dialog")).textContent).toContain("Replica worker-1");
  });

  test("keeps the keyboard on its replica when others come before it", async () => {
    const { server, user } = await show(jobOf({ replicas: MIXED }));
    square(/chief-0/).focus();
    await user.keyboard("{End}{ArrowDown}{End}");
    await waitFor(() => expect(document.activeElement).toBe(square(/worker-2/)));
    const replicas = [replica("chief", 0), replica("ps", 0), ...MIXED.slice(1)];
    await server.send("job", { job: jobOf({ replicas }) });
    await screen.findByRole("gridcell", { name: /ps-0/ });
    expect(document.activeElement).toBe(square(/worker-2/));
  });

  test("shows pod, node, state and reason of the square that the pointer rests on", async () => {
    const { container } = await show(jobOf({ replicas: MIXED }));
    fireEvent.pointerOver(square(/worker-1/), { pointerType: "mouse" });
    await waitFor(() => expect(container.querySelector(".job-peek")).not.toBeNull());
    const text = container.querySelector(".job-peek")?.textContent;
    for (const part of ["worker-1", "bert-worker-1", "node-1", "Failed", "Error: diverged"]) {
      expect(text).toContain(part);
    }
    fireEvent.scroll(container.querySelector(".job-squares-scroller")!);
    expect(container.querySelector(".job-peek")).toBeNull();
  });

  test("closes what it shows of a square when that opens, and of one that is gone", async () => {
    const { container } = await show(jobOf({ replicas: MIXED }));
    fireEvent.pointerOver(square(/worker-1/), { pointerType: "mouse" });
    await waitFor(() => expect(container.querySelector(".job-peek")).not.toBeNull());
    fireEvent.click(square(/worker-1/));
    expect(container.querySelector(".job-peek")).toBeNull();
    vi.useFakeTimers();
    try {
      const gone = square(/worker-2/);
      fireEvent.pointerOver(gone, { pointerType: "mouse" });
      gone.remove();
      act(() => void vi.advanceTimersByTime(1_000));
      expect(container.querySelector(".job-peek")).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });

  test("draws a window of 10,000 squares and tells how many there are", async () => {
    const replicas = Array.from({ length: 10_000 }, (_, index) => replica("worker", index));
    const { container } = await show(jobOf({ replicas }));
    expect(screen.getByRole("grid", { name: "Replicas: 10,000, by role" })).toBeTruthy();
    const drawn = container.querySelectorAll("[data-replica]").length;
    expect(drawn).toBeGreaterThan(500);
    expect(drawn).toBeLessThan(4_000);
  });
});

describe("the legend", () => {
  test("counts, and lets one kind stand out", async () => {
    const { user } = await show(jobOf({ replicas: MIXED }));
    const failed = screen.getByRole("button", { name: "Failed: 1" });
    expect(screen.getByRole("button", { name: "Running: 2" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Pending/ })).toBeNull();
    await user.click(failed);
    expect(failed.getAttribute("aria-pressed")).toBe("true");
    expect(square(/chief-0/).className).toContain("job-square-pale");
    expect(square(/worker-1/).className).not.toContain("job-square-pale");
    await user.click(failed);
    expect(square(/chief-0/).className).not.toContain("job-square-pale");
  });

  test("stands out for nothing once the last one of the kind is well", async () => {
    const { user, server } = await show(jobOf({ replicas: MIXED }));
    await user.click(screen.getByRole("button", { name: "Failed: 1" }));
    const replicas = MIXED.map((one) => ({ ...one, state: "Running" as const }));
    await server.send("job", { job: jobOf({ replicas }) });
    await screen.findByRole("button", { name: "Running: 4" });
    expect(square(/chief-0/).className).not.toContain("job-square-pale");
  });
});

describe("the table", () => {
  test("has the same in rows, sorted by a head that says so", async () => {
    const { user } = await show(jobOf({ replicas: MIXED }), "?view=table");
    const table = await screen.findByRole("table");
    const names = () =>
      within(table)
        .getAllByRole("button", { name: /^(chief|worker)-\d$/ })
        .map(({ textContent }) => textContent);
    expect(names()).toEqual(["chief-0", "worker-0", "worker-1", "worker-2"]);
    const head = within(table).getByRole("columnheader", { name: /Health/ });
    await user.click(head);
    await user.click(head);
    expect(head.getAttribute("aria-sort")).toBe("descending");
    expect(names()[0]).toBe("worker-1");
    expect(within(table).getByText("Error: diverged")).toBeTruthy();
  });

  test("is chosen by a switch, kept in the URL, and opens details as the grid does", async () => {
    const { user, router } = await show(jobOf({ replicas: MIXED }));
    await user.click(screen.getByText("Table"));
    expect(router.state.location.search).toBe("?view=table");
    const table = await screen.findByRole("table");
    await user.click(within(table).getByRole("button", { name: "worker-1" }));
    expect((await screen.findByRole("dialog")).textContent).toContain("Replica worker-1");
  });
});

test("without the right to list pods the page says so instead of squares", async () => {
  await show(jobOf({ podsVisible: false, replicas: [] }));
  expect(screen.getByText(/You may not list pods in ml/)).toBeTruthy();
  expect(screen.queryByRole("grid")).toBeNull();
});

test("a state that is newer than this page, and a hostile node, break nothing", async () => {
  const odd = { state: "Hibernating", health: "odd", node: HOSTILE } as unknown as Replica;
  const { container } = await show(jobOf({ replicas: [replica("worker", 0, odd)] }));
  expect(square(/worker-0, Hibernating/)).toBeTruthy();
  expect(container.querySelector("img[src=x]")).toBeNull();
});
