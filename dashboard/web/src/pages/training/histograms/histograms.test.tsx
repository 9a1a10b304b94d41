import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import type { EventsState, HistogramTag } from "../../../api/types";
import { FakeServer, problem } from "../../../testing/fake_server";
import { latinWords } from "../../../testing/latin";
import { renderAt } from "../../../testing/render";
import { viewport } from "../../../testing/viewport";
import { fakeCanvas, tagOf } from "./fixture";
import { pauseOf, versionOf } from "./use_events";

const PAGE = "/jobs/ml/trainingjobs/mnist/training";
const JOB = "api/jobs/ml/trainingjobs/mnist";
const EVENTS = `${JOB}/events`;
const SERIES = `${EVENTS}/data/histograms/series`;

const STATE: EventsState = {
  ...{ runs: 2, files: 2, bytes: 10, bytesTotal: 10, source: "chief-0", message: "", problems: [] },
};
const TAGS = [
  tagOf("gradients/hidden1/weights"),
  tagOf("hidden1/weights"),
  tagOf("softmax/weights"),
  tagOf("hidden1/weights", { run: "eval" }),
];

let canvas: { calls: string[] };
beforeEach(() => {
  canvas = fakeCanvas();
});

function histograms(steps: number[]) {
  return steps.map((step) => ({
    ...{ step, wall: 1000 + step, min: -0.5, max: 1.25 },
    ...{ edges: [-0.5, 0, 1.25], counts: [10 + step, 30] },
  }));
}

function serverOf(state: Partial<EventsState> = {}, tags: HistogramTag[] = TAGS): FakeServer {
  const server = new FakeServer();
  server.on("GET", `${JOB}/series`, () => ({ source: "chief-0", series: {} }));
  server.on("GET", EVENTS, () => ({ ...STATE, ...state }));
  server.on("GET", `${EVENTS}/data/histograms/tags`, () => ({ tags }));
  server.on("GET", SERIES, () => ({ inRange: 3, histograms: histograms([0, 100, 200]) }));
  server.on("GET", `${EVENTS}/data/plugin/distributions/distributions`, () =>
    [0, 100].map((step) => {
      const points = [0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000];
      return [1000 + step, step, points.map((one, index) => [one, index + step])];
    }),
  );
  return server;
}

const askedFor = (server: FakeServer): string[] =>
  server.asked.filter(({ path }) => path === SERIES).map(({ query }) => query.get("tag") ?? "");

describe("the histograms of a training", () => {
  test("have a card for each tag, those of a layer together", async () => {
    renderAt(PAGE, { server: serverOf() });
    const layer = await screen.findByRole("region", { name: "hidden1" });
    const cards = within(layer).getAllByRole("heading", { level: 4 });
    expect(cards.map(({ textContent }) => textContent)).toEqual([
      ...["hidden1/weights", "gradients/hidden1/weights"],
    ]);
    await within(layer).findByRole("img", {
      name: "Offset of hidden1/weights: 3 histograms, step 0 to 200",
    });
    await waitFor(() => expect(canvas.calls).toContain("fill"));
  });

  test("show how they are set in the address, and by it", async () => {
    const server = serverOf();
    const { user, router } = renderAt(`${PAGE}?mode=overlay&layers=soft`, { server });
    await screen.findByRole("img", { name: /^Overlay of softmax\/weights/ });
    expect(screen.queryByRole("region", { name: "hidden1" })).toBeNull();
    await user.click(screen.getByText("Distribution"));
    await screen.findByRole("img", { name: /^Distribution of softmax\/weights/ });
    await user.click(screen.getByRole("checkbox", { name: "Log height" }));
    await waitFor(() =>
      expect(router.state.location.search).toBe("?mode=bands&layers=soft&hlog=1"),
    );
  });

  test("are of the run that is chosen", async () => {
    const server = serverOf();
    const { user, router } = renderAt(PAGE, { server });
    await user.click(await screen.findByRole("combobox", { name: "Run" }));
    await user.click(await screen.findByTitle("evaluator"));
    await waitFor(() => expect(router.state.location.search).toBe("?run=eval"));
    await waitFor(() =>
      expect(server.asked.some(({ query }) => query.get("run") === "eval")).toBe(true),
    );
    await waitFor(() => expect(screen.queryByRole("region", { name: "softmax" })).toBeNull());
  });

  test("have a slider over steps that keys move, and bars of the step", async () => {
    const { router } = renderAt(`${PAGE}?layers=soft`, { server: serverOf() });
    const slider = await screen.findByRole("slider", { name: "Step of softmax/weights" });
    expect(slider.getAttribute("aria-valuetext")).toMatch(
      /^200 \(newest\); .*; 240 values, -0.5 to 1.25, 2 bins$/,
    );
    fireEvent.change(slider, { target: { value: "1" } });
    await screen.findByRole("img", { name: /^Histogram of softmax\/weights at step 100: 140/ });
    await waitFor(() => expect(router.state.location.search).toBe("?layers=soft&hstep=100"));
    // At its end it goes on with the newest.
    fireEvent.change(slider, { target: { value: "2" } });
    await waitFor(() => expect(router.state.location.search).toBe("?layers=soft"));
  });

  test("say what is under the cursor, and choose it by a click", async () => {
    renderAt(`${PAGE}?layers=soft`, { server: serverOf() });
    const picture = await screen.findByRole("img", { name: /^Offset of softmax/ });
    const surface = picture.firstElementChild;
    if (!surface) throw new Error("no surface");
    const at = { clientX: 1200, clientY: 20 };
    fireEvent.pointerMove(surface, at);
    await screen.findByText(/: 30 \(/);
    expect(screen.getByText("Step 0")).toBeTruthy();
    fireEvent.click(surface, at);
    await screen.findByRole("img", { name: /^Histogram of softmax\/weights at step 0/ });
    fireEvent.pointerLeave(surface);
    await screen.findByText(/share of all values per unit/);
  });

  test("show the numbers as a table, with the true edges", async () => {
    const { user } = renderAt(`${PAGE}?layers=soft`, { server: serverOf() });
    await screen.findByRole("slider", { name: /softmax/ });
    await user.click(screen.getByRole("button", { name: "Show as table: softmax/weights" }));
    const table = screen.getByRole("table", { name: "Bins of softmax/weights at step 200" });
    const rows = within(table).getAllByRole("row");
    expect(rows.map((one) => [...one.children].map(({ textContent }) => textContent))).toEqual([
      ["from", "to", "count", "share"],
      ["-0.5", "0", "210", "87.5 %"],
      ["0", "1.25", "30", "12.5 %"],
    ]);
    await user.click(screen.getByText("Distribution"));
    await screen.findByRole("table", { name: "Distribution of softmax/weights over steps" });
  });

  test("ask only for the steps that the zoom of the curves leaves", async () => {
    const server = serverOf();
    renderAt(`${PAGE}?layers=soft&from=50.5&to=150`, { server });
    await screen.findByRole("slider", { name: /softmax/ });
    const asked = server.asked.find(({ path }) => path === SERIES);
    expect(asked?.query.get("steps")).toBe("51..150");
    // What the server gives beyond that does not show.
    await screen.findByRole("img", { name: /^Histogram of .* at step 100/ });
  });
});

describe("what is not looked at", () => {
  test("is not asked for, nor drawn, until it comes into view", async () => {
    const server = serverOf();
    viewport.isIn = (element) => !element.getAttribute("aria-label")?.startsWith("softmax/");
    renderAt(PAGE, { server });
    await screen.findByRole("region", { name: "softmax/weights" });
    await waitFor(() => expect(askedFor(server)).toContain("hidden1/weights"));
    expect(askedFor(server)).not.toContain("softmax/weights");
    viewport.isIn = () => true;
    act(() => viewport.scrolled());
    await waitFor(() => expect(askedFor(server)).toContain("softmax/weights"));
    await screen.findByRole("slider", { name: /softmax/ });
    viewport.isIn = () => false;
    act(() => viewport.scrolled());
    canvas.calls.length = 0;
    fireEvent.change(screen.getByRole("slider", { name: /softmax/ }), { target: { value: "0" } });
    await screen.findByRole("img", { name: /^Histogram of softmax\/weights at step 0/ });
    expect(canvas.calls).toEqual([]);
  });

  test("costs not even the list of tags while the whole section is out of view", async () => {
    const server = serverOf();
    viewport.isIn = () => false;
    renderAt(PAGE, { server });
    await screen.findByRole("region", { name: "Histograms" });
    expect(server.asked.filter(({ path }) => path === EVENTS)).toEqual([]);
  });

  test("is read again only when there are new histograms, and large ones more seldom", async () => {
    const server = serverOf({}, [tagOf("w")]);
    const { services } = renderAt(PAGE, { server });
    await screen.findByRole("slider", { name: "Step of w" });
    await act(() => services.queries.refetchQueries({ queryKey: ["events"] }));
    const [query] = services.queries.getQueryCache().findAll({ queryKey: ["histograms"] });
    expect(query?.isStale()).toBe(false);
    server.on("GET", `${EVENTS}/data/histograms/tags`, () => ({
      tags: [tagOf("w", { count: 4, lastStep: 300 })],
    }));
    await act(() => services.queries.refetchQueries({ queryKey: ["events"] }));
    await waitFor(() => expect(query?.isStale()).toBe(true));
    expect(versionOf(tagOf("w"))).not.toBe(versionOf(tagOf("w", { lastStep: 300 })));
    expect(pauseOf(tagOf("w", { count: 500, bins: 1549 }))).toBeGreaterThan(15_000);
    expect(pauseOf(tagOf("w"))).toBeLessThan(6_000);
  });
});

describe("where something is missing", () => {
  test("it is said what makes histograms, and why there are none", async () => {
    renderAt(PAGE, { server: serverOf({ runs: 0, source: "", message: "nobody serves them" }) });
    await screen.findByText("No histograms yet");
    expect(screen.getByText("nobody serves them")).toBeTruthy();
    expect(screen.getByText(/spec\.trainer\.summaries\.dir/)).toBeTruthy();
    expect(screen.getByText(/spec\.trainer\.checkpoint\.dir/)).toBeTruthy();
  });

  test("what was read stays, with the reason why no more comes", async () => {
    const message = "what is shown was read until 04:10";
    const problems = [{ run: ".", file: "events.1", byte: 12_345, what: "a wrong checksum" }];
    renderAt(PAGE, { server: serverOf({ source: "", message, problems }) });
    await screen.findByText(message);
    await screen.findByText("What shows may not be the newest");
    await screen.findByRole("region", { name: "hidden1/weights" });
    expect(screen.getByText("1 problem in the event files")).toBeTruthy();
    expect(screen.getByText("./events.1, byte 12,345")).toBeTruthy();
  });

  test("it is said how far the files have been read", async () => {
    renderAt(PAGE, { server: serverOf({ bytes: 3, bytesTotal: 10 }) });
    await screen.findByText("Reading the event files: 30%");
  });

  test("an error of the list can be tried again; what was there stays", async () => {
    const server = serverOf();
    server.on("GET", EVENTS, () => problem(503, "Unavailable", "chief-0 does not answer"));
    const { user, services } = renderAt(PAGE, { server });
    await screen.findByText("The histograms cannot be read");
    server.on("GET", EVENTS, () => STATE);
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByRole("region", { name: "hidden1/weights" });
    server.on("GET", EVENTS, () => problem(503, "Unavailable", "chief-0 is gone"));
    await act(() => services.queries.refetchQueries({ queryKey: ["events"] }));
    await screen.findByText("chief-0 is gone");
    expect(screen.getByText(/cannot be read again now/)).toBeTruthy();
    expect(screen.getByRole("region", { name: "hidden1/weights" })).toBeTruthy();
  });

  test("an error of a tag is in its card; what was there stays", async () => {
    const server = serverOf({}, [tagOf("w")]);
    server.on("GET", SERIES, () => problem(500, "Internal", "no such run"));
    const { user, services } = renderAt(PAGE, { server });
    const card = await screen.findByRole("region", { name: "w" });
    await within(card).findByText("no such run");
    server.on("GET", SERIES, () => ({ inRange: 90, histograms: histograms([5]) }));
    await user.click(within(card).getByRole("button", { name: "Try again" }));
    await within(card).findByRole("slider");
    expect(within(card).getByText(/^1 of 90 histograms/)).toBeTruthy();
    server.on("GET", SERIES, () => problem(500, "Internal", "it broke"));
    await act(() => services.queries.refetchQueries({ queryKey: ["histograms"] }));
    await within(card).findByText("it broke");
    expect(within(card).getByRole("slider")).toBeTruthy();
  });

  test("histograms of nothing, of no numbers and of one value are said to be such", async () => {
    const answers: Record<string, object[]> = {
      hollow: [{ step: 0, wall: 1, min: 0, max: 0, edges: [], counts: [] }],
      odd: [{ step: 0, wall: 1, min: "NaN", max: 1, edges: ["NaN", 0, 1], counts: [1, 2] }],
      same: [{ step: 0, wall: 1, min: 0, max: 0, edges: [0, 1e-12], counts: [64] }],
    };
    const server = serverOf({}, Object.keys(answers).map((tag) => tagOf(tag)));
    server.on("GET", SERIES, ({ query }) => ({
      inRange: 1,
      histograms: answers[query.get("tag") ?? ""],
    }));
    renderAt(PAGE, { server });
    const card = (name: string) => screen.findByRole("region", { name });
    await within(await card("hollow")).findByText("No values were counted.");
    await within(await card("odd")).findByText(/^1 bin has no finite edges/);
    await within(await card("same")).findByText(/All 64 values are 0/);
  });

  test("a filter that is no regular expression, or finds nothing, is said", async () => {
    const { user } = renderAt(`${PAGE}?layers=(`, { server: serverOf() });
    await screen.findByText("This is no regular expression; all tags show.");
    await screen.findByRole("region", { name: "hidden1/weights" });
    const filter = screen.getByRole("textbox", { name: "Filter tags (regex)" });
    await user.clear(filter);
    await user.type(filter, "zzz");
    await screen.findByText("No tag has such a name.");
  });
});

test("a page of many tags comes bit by bit", async () => {
  const many = Array.from({ length: 70 }, (_, index) => tagOf(`layer/w${index}`));
  viewport.isIn = ({ tagName, className }) => tagName !== "SECTION" || !/card/.test(className);
  const { user } = renderAt(PAGE, { server: serverOf({}, many) });
  await screen.findByRole("region", { name: "layer/w0" });
  expect(screen.queryByRole("region", { name: "layer/w69" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Show 10 more tags" }));
  await screen.findByRole("region", { name: "layer/w69" });
});

test("all is Chinese where the user reads Chinese", async () => {
  const server = serverOf({ source: "" }, [tagOf("w")]);
  renderAt(`${PAGE}?mode=bands`, { server, language: "zh" });
  await screen.findByRole("slider", { name: "w 的步数" });
  const section = screen.getByRole("region", { name: "直方图" });
  const spoken = section.querySelectorAll("[aria-label]:not([aria-hidden])");
  const labels = [...spoken].map((one) => one.getAttribute("aria-label") ?? "");
  expect([section.textContent, ...labels].flatMap((text) => latinWords(text))).toEqual([]);
});
