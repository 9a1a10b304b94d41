import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { JobRow } from "../../api/types";
import { FakeServer, problem, session } from "../../testing/fake_server";
import type { Rendered } from "../../testing/render";
import { renderAt } from "../../testing/render";
import { row } from "../../testing/rows";

async function show(rows: JobRow[], path = "/jobs", server = new FakeServer()): Promise<Rendered> {
  const rendered = renderAt(path, { server });
  await server.send("jobs", { full: true, rows, gone: [] });
  return rendered;
}

/** Rows of the table that show, without its head. */
async function lines(): Promise<HTMLElement[]> {
  const grid = await screen.findByRole("grid");
  return within(grid).getAllByRole("row").slice(1);
}

async function names(): Promise<(string | null)[]> {
  return (await lines()).map((line) => within(line).getByRole("link").textContent);
}

/** Name of the job whose row has the focus. */
function focused(): string | null | undefined {
  return document.activeElement?.closest('[role="row"]')?.querySelector("a")?.textContent;
}

const address = ({ router }: Rendered): string => router.state.location.search;

describe("the table of jobs", () => {
  test("shows health before state, with words, and all that a row has", async () => {
    await show([
      row("bert", {
        health: "critical",
        healthReason: "CrashLoop",
        message: "worker-1 crashes",
        roles: [
          { role: "ps", desired: 2, ready: 2, succeeded: 0, failed: 0 },
          { role: "worker", desired: 4, ready: 3, succeeded: 0, failed: 0 },
        ],
        gpus: 8,
        restarts: 5,
        progress: { step: 420, maxSteps: 1000, percent: 42, examplesPerSecond: 9, etaSeconds: 660 },
        owner: "ada",
        queue: "gpu-a100",
      }),
    ]);
    const [line] = await lines();
    const cells = within(line as HTMLElement).getAllByRole("gridcell");
    const texts = cells.map((cell) => cell.textContent);
    expect(texts[1]).toBe("Critical");
    expect(texts.indexOf("Critical")).toBeLessThan(texts.indexOf("Running"));
    const whole = texts.join("|");
    for (const part of ["bert", "ml", "TrainingJob", "Running", "worker 3/4 · ps 2/2"]) {
      expect(whole).toContain(part);
    }
    for (const part of ["|8|", "42%", "11m", "|5|", "worker-1 crashes", "ada", "gpu-a100"]) {
      expect(whole).toContain(part);
    }
    expect(screen.getByTitle("A container crashes again and again")).toBeTruthy();
    const bar = screen.getByRole("progressbar", { name: "step 420 of 1,000" });
    expect(bar.getAttribute("aria-valuenow")).toBe("42");
  });

  test("changes while one looks, and only the rows that have changed", async () => {
    const { server } = await show([row("a"), row("b")]);
    await waitFor(async () => expect(await names()).toEqual(["a", "b"]));
    const b = (await lines())[1];
    await server.send("jobs", {
      full: false,
      rows: [row("a", { health: "warning" }), row("c")],
      gone: ["uid-b"],
    });
    await waitFor(async () => expect(await names()).toEqual(["a", "c"]));
    expect(screen.getByText("Warning", { selector: ".tag" })).toBeTruthy();
    expect(b?.isConnected).toBe(false);
  });

  test("draws a window of 5,000 rows and tells how many there are", async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => row(`job-${i}`));
    await show(rows);
    expect((await lines()).length).toBeLessThan(100);
    const grid = screen.getByRole("grid");
    expect(grid.getAttribute("aria-rowcount")).toBe("5001");
    expect((await lines())[3]?.getAttribute("aria-rowindex")).toBe("5");
    expect(screen.getByText("5,000 jobs")).toBeTruthy();
  });

  test("shows hostile texts as texts", async () => {
    const script = "<script>window.broken = true</script><img src=x onerror=alert(1)>";
    const reversed = "\u202egnp.exe\u202d";
    const long = "n".repeat(10_000);
    await show([
      row(script, { message: script, owner: "{{owner}}", labels: { __proto__: "x" } }),
      row(reversed),
      row(long, { message: long }),
      row("constructor", { health: "toString" as "ok", state: "hasOwnProperty" as "Running" }),
    ]);
    await waitFor(async () => {
      const shown = await names();
      expect(shown.sort()).toEqual([script, reversed, long, "constructor"].sort());
    });
    const grid = screen.getByRole("grid");
    expect(grid.querySelectorAll("script, img")).toHaveLength(0);
    expect(window).not.toHaveProperty("broken");
    for (const link of within(grid).getAllByRole("link")) {
      expect(link.querySelector("bdi")).not.toBeNull();
      expect(link.getAttribute("href")).not.toMatch(/[<>\u202e]/);
    }
  });

  test("goes from row to row by keyboard, selects and opens", async () => {
    const rendered = await show([row("a"), row("b"), row("c")]);
    const { user, router } = rendered;
    const [first] = await lines();
    first?.focus();
    await user.keyboard("{ArrowDown}{ArrowDown}");
    await waitFor(() => expect(focused()).toBe("c"));
    await user.keyboard("{ArrowUp} ");
    await screen.findByText("1 job selected");
    expect((await lines())[1]?.getAttribute("aria-selected")).toBe("true");
    expect((await lines()).map((line) => line.tabIndex)).toEqual([-1, 0, -1]);
    await user.keyboard("{Enter}");
    await waitFor(() => expect(router.state.location.pathname).toBe("/jobs/ml/trainingjobs/b"));
  });

  test("keeps the keyboard's place when its job goes", async () => {
    const { server } = await show([row("a"), row("b"), row("c")]);
    (await lines())[1]?.focus();
    await server.send("jobs", { full: false, rows: [], gone: ["uid-b"] });
    await waitFor(async () => expect(await names()).toEqual(["a", "c"]));
    await waitFor(() => expect(focused()).toBe("c"));
  });
});

// Symptom: the list had neither loss nor accuracy, and nobody could choose its columns.
describe("the columns", () => {
  const headers = (): (string | null)[] =>
    screen.getAllByRole("columnheader").map((header) => header.textContent);
  const progress = {
    step: 1,
    maxSteps: 2,
    percent: 50,
    examplesPerSecond: 1,
    loss: 0.2134,
    accuracy: 0.947,
  };

  test("have loss and accuracy where a job has some", async () => {
    const { server } = await show([row("a")]);
    await lines();
    expect(headers()).not.toContain("Loss");
    await server.send("jobs", { full: false, rows: [row("b", { progress })], gone: [] });
    await waitFor(() => expect(headers()).toEqual(expect.arrayContaining(["Loss", "Accuracy"])));
    const grid = screen.getByRole("grid");
    expect(within(grid).getByText("0.213")).toBeTruthy();
    expect(within(grid).getByText("95%")).toBeTruthy();
  });

  test("can be chosen, and stay so", async () => {
    const { user, unmount } = await show([row("a", { progress })]);
    await lines();
    await user.click(screen.getByRole("button", { name: "Columns" }));
    await user.click(screen.getByRole("checkbox", { name: "Kind" }));
    await waitFor(() => expect(headers()).not.toContain("Kind"));
    expect(screen.queryByText("TrainingJob")).toBeNull();
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("checkbox", { name: "Kind" })).toBeNull();
    unmount();
    await show([row("a", { progress })]);
    await lines();
    expect(headers()).not.toContain("Kind");
    await user.click(screen.getByRole("button", { name: "Columns" }));
    await user.click(screen.getByRole("button", { name: "Show all" }));
    await waitFor(() => expect(headers()).toContain("Kind"));
  });
});

describe("filters and order", () => {
  const rows = [
    row("bert", { health: "critical", state: "Failed", owner: "ada", gpus: 0 }),
    row("gpt", { namespace: "research", gpus: 8 }),
    row("vit", { state: "Pending", gpus: 1 }),
  ];

  test("come from the URL", async () => {
    await show(rows, "/jobs?ns=ml&sort=gpus");
    await waitFor(async () => expect(await names()).toEqual(["vit", "bert"]));
  });

  test("go into the URL: text, a number of the summary, an order", async () => {
    const rendered = await show(rows);
    const { user } = rendered;
    await user.type(await screen.findByRole("searchbox"), "t g");
    await waitFor(async () => expect(await names()).toEqual(["gpt"]));
    expect(address(rendered)).toBe("?q=t+g");
    await user.click(screen.getByRole("button", { name: /Need attention/ }));
    await waitFor(async () => expect(await names()).toEqual(["bert"]));
    expect(address(rendered)).toBe("?health=critical%2Cwarning");
    expect(screen.getByRole("searchbox")).toHaveProperty("value", "");
    await user.click(screen.getByRole("button", { name: "Clear the filter" }));
    await user.click(screen.getByRole("button", { name: "GPUs" }));
    await waitFor(async () => expect(await names()).toEqual(["gpt", "vit", "bert"]));
    expect(address(rendered)).toBe("?sort=gpus");
    await user.click(screen.getByRole("button", { name: "GPUs" }));
    await waitFor(async () => expect(await names()).toEqual(["bert", "vit", "gpt"]));
    expect(address(rendered)).toBe("?sort=-gpus");
    expect(
      screen.getByRole("columnheader", { name: "GPUs" }).getAttribute("aria-sort"),
    ).toBe("descending");
  });

  test("say so when nothing matches, and can be cleared", async () => {
    const { user } = await show(rows, "/jobs?q=nothing&ns=ml");
    expect(await screen.findByText("No job matches the filter")).toBeTruthy();
    const buttons = screen.getAllByRole("button", { name: "Clear the filter" });
    await user.click(buttons.at(-1) as HTMLElement);
    await waitFor(async () => expect(await names()).toEqual(["bert", "vit"]));
  });
});

describe("the page without rows", () => {
  test("is loading until the server has told", async () => {
    renderAt("/jobs");
    expect(await screen.findByRole("status", { name: "Loading…" })).toBeTruthy();
  });

  test("shows how to make the first job", async () => {
    const { user, router } = await show([]);
    expect(await screen.findByText("No jobs yet")).toBeTruthy();
    expect(screen.getByText(/kubectl apply -f/)).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Submit a job" }));
    await waitFor(() => expect(router.state.location.pathname).toBe("/submit"));
  });

  test("does not offer to submit where nothing may be changed", async () => {
    await show([], "/jobs", new FakeServer(session({ readOnly: true })));
    expect(await screen.findByText("No jobs yet")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Submit a job" })).toBeNull();
  });

  test("says why the jobs cannot be read", async () => {
    const server = new FakeServer();
    server.on("GET", "api/stream", () => problem(403, "Forbidden", "ada may not list jobs"));
    renderAt("/jobs", { server });
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("The jobs cannot be read");
    expect(alert.textContent).toContain("You may not do this");
    expect(alert.textContent).toContain("ada may not list jobs");
  });
});
