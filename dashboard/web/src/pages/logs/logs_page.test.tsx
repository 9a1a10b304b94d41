import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import type { LogRecord } from "../../api/types";
import { FakeServer, problem } from "../../testing/fake_server";
import type { Rendered } from "../../testing/render";
import { renderAt } from "../../testing/render";
import { HOSTILE, jobOf } from "../job/job_fixture";
import { FakeLogStream, lineOf, LIVE } from "./fake_log_stream";
import { ROW_HEIGHT } from "./scroll";

const PATH = "api/jobs/ml/trainingjobs/bert/logs";

let server: FakeServer;
let streams: FakeLogStream[];

beforeEach(() => {
  server = new FakeServer();
  streams = [];
  server.on("GET", PATH, () => {
    streams.push(new FakeLogStream());
    return streams.at(-1)?.response;
  });
});

type Options = Parameters<typeof renderAt>[1];

async function open(query = "", records: LogRecord[] = [], options: Options = {}) {
  const page = renderAt(`/jobs/ml/trainingjobs/bert/logs${query}`, { server, ...options });
  await waitFor(() => expect(streams.length).toBe(1));
  await act(() => server.send("job", { job: jobOf() }));
  streams[0]?.send(...records);
  if (records.length > 0) await waitFor(() => expect(rows().length).toBeGreaterThan(0));
  return page;
}

function region(): HTMLElement {
  return screen.getByRole("log");
}
function rows(): string[] {
  return [...region().querySelectorAll(".logs-row")].map((row) => row.textContent ?? "");
}
function texts(): string[] {
  return [...region().querySelectorAll(".logs-text")].map((text) => text.textContent ?? "");
}
function asked(): URLSearchParams {
  const of = server.asked.filter(({ path }) => path === PATH).at(-1);
  return of?.query ?? new URLSearchParams();
}
function url(page: Rendered): URLSearchParams {
  return new URLSearchParams(page.router.state.location.search);
}
function manyLines(count: number): LogRecord[] {
  return Array.from({ length: count }, (_, i) => lineOf(i, `step ${i}`, `worker-${i % 2}`));
}

test("lines show in order with time and replica, notes among them", async () => {
  await open("?time=utc", [
    { r: "worker-0", note: "begin", podNumber: 3 },
    lineOf(1, "first"),
    lineOf(2, "second", "ps-0"),
    { r: "worker-0", note: "end", podNumber: 3, message: "exit code 137 (OOMKilled)" },
    { r: "", note: "error", message: "no more than 256 pods are read at once" },
  ]);
  await waitFor(() => expect(rows().length).toBe(5));
  expect(rows()[1]).toBe("11-21 05:00:01.000worker-0 first");
  expect(rows()[2]).toContain("ps-0 second");
  expect(rows()[0]).toContain("The log begins (pod number 3)");
  expect(rows()[3]).toContain("The log has ended: exit code 137 (OOMKilled)");
  expect(rows()[4]).toContain("no more than 256 pods");
  expect(asked().get("tail")).toBe("1000");
  expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("Logs of bert");
});

test("in Chinese, too", async () => {
  await open("", [{ r: "worker-0", note: "begin", podNumber: 3 }], { language: "zh" });
  expect(rows()[0]).toContain("日志开始");
  expect(screen.getByRole("log", { name: "日志内容" })).toBeTruthy();
});

test("what programs and people write is text, whatever it looks like", async () => {
  const { container } = await open("", [lineOf(1, `${HOSTILE}\u001b[31m<b>red</b>`, HOSTILE)]);
  expect(container.querySelector("img[src=x]")).toBeNull();
  expect(texts()[0]).toContain("<b>red</b>");
  expect(region().querySelector(".ansi-red")?.textContent).toBe("<b>red</b>");
  expect(region().querySelector("bdi.logs-text")).toBeTruthy();
});

test("of many lines only those that show are drawn, the last ones first", async () => {
  await open("", manyLines(5_000));
  await waitFor(() => expect(texts().at(-1)).toBe("step 4999"));
  expect(rows().length).toBeLessThan(80);
  await screen.findByText(/5,000 lines/);
});

test("whoever scrolled up stays there, sees how many lines came, and gets to them", async () => {
  const { user } = await open("", manyLines(2_000));
  streams[0]?.send(LIVE);
  await screen.findByText(/Following/);
  fireEvent.scroll(region(), { target: { scrollTop: 170 } });
  expect(texts()[0]).toBe("step 10");
  streams[0]?.send(lineOf(3_000, "new one"), lineOf(3_001, "new two"));
  await user.click(await screen.findByRole("button", { name: "2 new lines" }));
  await waitFor(() => expect(texts().at(-1)).toBe("new two"));
  expect(screen.queryByRole("button", { name: /new line/ })).toBeNull();
  streams[0]?.send(lineOf(3_002, "new three"));
  await waitFor(() => expect(texts().at(-1)).toBe("new three"));
});

test("a window that grows before new lines are drawn stays at the end", async () => {
  await open("", manyLines(2_000));
  streams[0]?.send(LIVE);
  await screen.findByText(/Following/);
  const height = region().clientHeight + 34;
  Object.defineProperty(region(), "clientHeight", { configurable: true, value: height });
  streams[0]?.send(lineOf(3_000, "new one"), lineOf(3_001, "new two"));
  // What the browser does: as far down as what is drawn goes.
  fireEvent.scroll(region(), { target: { scrollTop: 2_000 * ROW_HEIGHT - height } });
  await waitFor(() => expect(texts().at(-1)).toBe("new two"));
  expect(screen.queryByRole("button", { name: /new line/ })).toBeNull();
});

test("some replicas, or all of a role, are chosen and kept in the URL", async () => {
  const page = await open("", manyLines(10));
  await page.user.click(screen.getByRole("combobox", { name: "Replicas" }));
  await page.user.click(await screen.findByTitle("All of role worker"));
  await waitFor(() => expect(asked().getAll("replica")).toEqual(["worker"]));
  expect(url(page).getAll("replica")).toEqual(["worker"]);
  await waitFor(() => expect(streams.length).toBe(2));
  streams[1]?.send(lineOf(0, "again"));
  await waitFor(() => expect(texts()).toEqual(["again"]));
});

test("a link opens what it says", async () => {
  await open("?replica=ps-0&replica=worker-1&tail=0&previous=1&wrap=1&time=off", [lineOf(0, "x")]);
  expect(asked().getAll("replica")).toEqual(["ps-0", "worker-1"]);
  expect(asked().get("tail")).toBe("0");
  expect(asked().get("previous")).toBe("true");
  expect(asked().get("follow")).toBeNull();
  expect(region().className).toContain("logs-wrap");
  expect(region().querySelector(".logs-time")).toBeNull();
});

test("the search counts, marks, goes from match to match and can hide the rest", async () => {
  const page = await open("", manyLines(300));
  await page.user.keyboard("/");
  const field = screen.getByRole("textbox", { name: "Search in the lines" });
  expect(document.activeElement).toBe(field);
  await page.user.keyboard("step 1?7");
  await screen.findByText("No line matches", { selector: ".logs-outcome" });
  await page.user.click(screen.getByRole("button", { name: "Regular expression" }));
  // 7, 17, 70…79, 170…179
  await screen.findByText("22 lines match");
  expect(url(page).get("q")).toBe("step 1?7");
  await page.user.type(field, "{Enter}");
  await screen.findByText("1 of 22");
  expect(region().querySelector("mark")?.textContent).toBe("step 7");
  fireEvent.keyDown(region(), { key: "n" });
  await screen.findByText("2 of 22");
  fireEvent.keyDown(region(), { key: "N" });
  fireEvent.keyDown(region(), { key: "N" });
  await screen.findByText("22 of 22");
  await page.user.click(screen.getByRole("button", { name: "Only lines that match" }));
  await waitFor(() => expect(texts().length).toBe(22));
  expect(texts()[0]).toBe("step 7");
});

test("an expression that is none says why", async () => {
  await open("?q=(&regex=1", manyLines(3));
  await screen.findByText(/This is no regular expression/, { selector: ".logs-outcome" });
});

test("keys toggle wrapping and following", async () => {
  const page = await open("", manyLines(100));
  fireEvent.keyDown(region(), { key: "w" });
  await waitFor(() => expect(url(page).get("wrap")).toBe("1"));
  fireEvent.keyDown(region(), { key: "f" });
  await screen.findByText(/Not following/);
  expect(url(page).get("follow")).toBe("0");
  expect(texts().length).toBeGreaterThan(0);
  fireEvent.keyDown(region(), { key: "f" });
  await waitFor(() => expect(streams.length).toBe(2));
  expect(asked().get("since")).toBeTruthy();
});

// Symptom: the toolbar was five icons without words.
test("each button of the toolbar has a word beside its icon, for where there is room", async () => {
  await open();
  const words = [...document.querySelectorAll(".logs-buttons .logs-word")];
  expect(words.map((word) => word.textContent)).toEqual([
    "Wrap",
    "Previous",
    "Time",
    "Download",
    "Follow",
  ]);
});

test("lines are selected beside their text, and copied with time and replica", async () => {
  const page = await open("", manyLines(20));
  const copied = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  const gutters = region().querySelectorAll(".logs-gutter");
  fireEvent.click(gutters[2] as Element);
  fireEvent.click(gutters[4] as Element, { shiftKey: true });
  await page.user.click(await screen.findByRole("button", { name: "Copy 3 lines" }));
  expect(copied).toHaveBeenCalledWith(
    "2026-11-21T05:00:02.000Z worker-0 step 2\n" +
      "2026-11-21T05:00:03.000Z worker-1 step 3\n" +
      "2026-11-21T05:00:04.000Z worker-0 step 4\n",
  );
  fireEvent.keyDown(region(), { key: "ArrowDown", shiftKey: true });
  await screen.findByRole("button", { name: "Copy 4 lines" });
  fireEvent.keyDown(region(), { key: "Escape" });
  await waitFor(() => expect(screen.queryByRole("button", { name: /Copy/ })).toBeNull());
});

test("one goes to a time", async () => {
  const page = await open("?time=utc", manyLines(2_000));
  await page.user.click(screen.getByRole("button", { name: "Go to a time" }));
  const field = await screen.findByLabelText(/Go to the first line/);
  fireEvent.change(field, { target: { value: "2026-11-21T05:10:00" } });
  await page.user.click(screen.getByRole("button", { name: "Go" }));
  await waitFor(() => expect(texts()).toContain("step 600"));
  expect(region().querySelector(".logs-current .logs-text")?.textContent).toBe("step 600");
});

test("all lines are loaded from the first", async () => {
  const page = await open("?replica=worker-1&tail=100", manyLines(200));
  await page.user.click(await screen.findByRole("button", { name: "Load all lines" }));
  await waitFor(() => expect(asked().get("tail")).toBe("0"));
  await waitFor(() => expect(streams.length).toBe(2));
  streams[1]?.send(...manyLines(2_000));
  await waitFor(() => expect(texts()[0]).toBe("step 0"));
});

// Symptom: the download was a plain link, which carries the cookie only, so that the cookie alone
// had to be the whole session.
test("lines are downloaded as they are chosen, with the page's half of the session", async () => {
  localStorage.setItem("taas.session /", "half-1");
  const blobs: Blob[] = [];
  class FakeUrl extends URL {
    static override createObjectURL = (blob: Blob): string => (blobs.push(blob), "blob:x");
    static override revokeObjectURL = (): void => undefined;
  }
  vi.stubGlobal("URL", FakeUrl);
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
  const page = await open("?replica=worker-1&tail=100", manyLines(200));
  server.on("GET", PATH, () => new Response("a whole log\n"));
  await page.user.click(screen.getByRole("button", { name: /Download/ }));
  await waitFor(() => expect(blobs.length).toBe(1));
  expect(await blobs[0]?.text()).toBe("a whole log\n");
  expect(asked().get("download")).toBe("1");
  expect(asked().getAll("replica")).toEqual(["worker-1"]);
  expect(server.asked.at(-1)?.headers.get("X-TaaS-Session")).toBe("half-1");
  server.on("GET", PATH, () => problem(403, "Forbidden", "you may not get pods/log"));
  await page.user.click(screen.getByRole("button", { name: /Download/ }));
  await screen.findByText(/you may not get pods\/log/);
});

test("a log that is there to its first line is not said to be cut", async () => {
  // More lines in all than are asked for of each replica.
  await open("?tail=100", manyLines(150));
  await act(() => server.send("job", { job: jobOf({ state: "Succeeded" }) }));
  streams[0]?.end();
  expect(await screen.findByText(/Complete · 150 lines/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Load all lines" })).toBeNull();
  expect(screen.queryByText(/were loaded/)).toBeNull();
});

test("a log that begins in the middle is not said to be complete", async () => {
  await open("?tail=100", manyLines(200));
  await act(() => server.send("job", { job: jobOf({ state: "Succeeded" }) }));
  streams[0]?.end();
  expect(await screen.findByText(/Loaded · 200 lines/)).toBeTruthy();
  expect(screen.getByText("The last 100 lines of each replica were loaded.")).toBeTruthy();
});

test("no line is selected before somebody selects one", async () => {
  await open("", manyLines(5));
  await waitFor(() => expect(rows().length).toBeGreaterThan(4));
  expect(region().querySelectorAll(".logs-selected").length).toBe(0);
});

test("a suspended job's page of logs says that they are gone", async () => {
  await open();
  await act(() => server.send("job", { job: jobOf({ state: "Suspended" }) }));
  streams[0]?.send(LIVE);
  await screen.findByText(/its pods and their logs are gone/);
});

test("a screen reader hears lines only while few come", async () => {
  await open("", manyLines(200));
  expect(region().getAttribute("aria-live")).toBe("off");
  streams[0]?.send(LIVE);
  await waitFor(() => expect(region().getAttribute("aria-live")).toBe("polite"));
});

test("whoever may not read logs hears why, and may try again", async () => {
  server.on("GET", PATH, () => problem(403, "Forbidden", "you may not get pods/log"));
  const page = renderAt("/jobs/ml/trainingjobs/bert/logs", { server });
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("you may not get pods/log");
  server.on("GET", PATH, () => {
    streams.push(new FakeLogStream());
    return streams.at(-1)?.response;
  });
  await page.user.click(within(alert).getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(streams.length).toBe(1));
});

test("of a job that is gone the way to the history shows", async () => {
  server.on("GET", PATH, () => problem(404, "NotFound", "there is none"));
  renderAt("/jobs/ml/trainingjobs/bert/logs", { server });
  const link = await screen.findByRole("link", { name: "Look in the history" });
  expect(link.getAttribute("href")).toBe("/history?q=bert");
});

test("a job without lines says so", async () => {
  await open("?follow=0");
  streams[0]?.end();
  await screen.findByText("There are no lines.");
});
