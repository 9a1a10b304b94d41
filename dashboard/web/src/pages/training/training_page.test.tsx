import { act, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { SeriesAnswer } from "../../api/types";
import { FakeServer, problem } from "../../testing/fake_server";
import { renderAt } from "../../testing/render";
import { row } from "../../testing/rows";
import { jobOf } from "../job/job_fixture";
import { FakePlot } from "./fake_plot";

const PAGE = "/jobs/ml/trainingjobs/mnist/training";
const SERIES = "api/jobs/ml/trainingjobs/mnist/series";

beforeEach(() => {
  FakePlot.made.length = 0;
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue({} as never);
});

const CURVES: SeriesAnswer = {
  source: "chief-0",
  series: {
    accuracy: [[100, 1000, 0.5]],
    loss: [
      [100, 1000, 2],
      [200, 1010, 1],
      [300, 1020, 0.5],
    ],
  },
  evaluator: { loss: [[200, 1011, 1.5]] },
};

function serverOf(answer: unknown): FakeServer {
  const server = new FakeServer();
  server.on("GET", SERIES, () => answer);
  return server;
}

const live = () => FakePlot.made.filter(({ destroyed }) => !destroyed);

describe("the page of a training", () => {
  test("has a chart for each tag, with training and test data in it", async () => {
    renderAt(PAGE, { server: serverOf(CURVES) });
    const loss = await screen.findByRole("region", { name: "Loss" });
    const lines = within(loss).getAllByRole("listitem");
    expect(lines.map(({ textContent }) => textContent)).toEqual([
      expect.stringMatching(/mnist · training.*last 0.5.*min 0.5.*max 2/),
      expect.stringMatching(/mnist · test data.*last 1.5/),
    ]);
    const names = screen.getAllByRole("slider", { name: /^Chart:/ });
    expect(names.map((one) => one.getAttribute("aria-label"))).toEqual([
      "Chart: Loss",
      "Chart: Accuracy",
    ]);
  });

  test("keeps zoom and hidden curves when new points come", async () => {
    const server = serverOf(CURVES);
    const { user, services, router } = renderAt(PAGE, { server });
    const loss = await screen.findByRole("region", { name: "Loss" });
    await waitFor(() => expect(live()).toHaveLength(2));
    await user.click(within(loss).getByRole("button", { name: /test data/ }));
    act(() => live()[0]?.drag(100, 100));
    await waitFor(() => expect(router.state.location.search).toBe("?from=100&to=200"));
    const longer = { ...CURVES.series, loss: [...(CURVES.series.loss ?? []), [400, 1030, 0.2]] };
    server.on("GET", SERIES, () => ({ ...CURVES, series: longer }));
    await act(() => services.queries.refetchQueries({ queryKey: ["series"] }));
    const plot = () => live().find(({ data }) => data[0].length === 4);
    await waitFor(() => expect(plot()).toBeTruthy());
    expect(plot()?.span()).toEqual([100, 200]);
    const toggle = within(loss).getByRole("button", { name: /test data/ });
    expect(toggle.getAttribute("aria-pressed")).toBe("false");
    await user.click(screen.getByRole("button", { name: "Reset zoom" }));
    await waitFor(() => expect(plot()?.span()).toEqual([100, 400]));
  });

  test("is operated by keys, and says what the cursor is on", async () => {
    const { user } = renderAt(PAGE, { server: serverOf(CURVES) });
    const chart = await screen.findByRole("slider", { name: "Chart: Loss" });
    await waitFor(() => expect(live()).toHaveLength(2));
    act(() => chart.focus());
    await user.keyboard("{Home}{ArrowRight}");
    const said = chart.getAttribute("aria-valuetext");
    expect(said).toMatch(/^Step 200; mnist training batches: 1; mnist test data: 1\.5$/);
  });

  test("says where smoothing does nothing to who has asked for it", async () => {
    const { unmount } = renderAt(PAGE, { server: serverOf(CURVES) });
    const loss = await screen.findByRole("region", { name: "Loss" });
    expect(within(loss).queryByText(/Not smoothed/)).toBeNull();
    unmount();
    renderAt(`${PAGE}?smooth=0.9`, { server: serverOf(CURVES) });
    const asked = await screen.findByRole("region", { name: "Loss" });
    within(asked).getByText("Not smoothed: a curve of fewer than 10 points is shown as it is.");
  });

  test("shows the points as a table", async () => {
    const { user } = renderAt(`${PAGE}?smooth=0`, { server: serverOf(CURVES) });
    await user.click(await screen.findByRole("button", { name: "Show as table: Loss" }));
    const table = screen.getByRole("table", { name: "Points of Loss" });
    const rows = within(table).getAllByRole("row").slice(1);
    expect(rows.map((one) => [...one.children].map(({ textContent }) => textContent))).toEqual([
      ["100", "2", ""],
      ["200", "1", "1.5"],
      ["300", "0.5", ""],
    ]);
  });

  test("compares with jobs that a link names", async () => {
    const server = serverOf(CURVES);
    server.on("GET", "api/jobs/ml/tfjobs/old/series", () => ({
      source: "chief-0",
      series: { loss: [[100, 5, 3]] },
    }));
    server.on("GET", "api/history/u-1", () => problem(404, "NotFound", "no such job"));
    renderAt(`${PAGE}?with=ml/tfjobs/old&history=u-1`, { server });
    const loss = await screen.findByRole("region", { name: "Loss" });
    await within(loss).findByText("old");
    await screen.findByText("The curves of u-1 cannot be read");
  });

  test("says in what the manifests of compared jobs differ", async () => {
    const server = serverOf(CURVES);
    const manifest = (name: string, learningRate: number) => ({
      apiVersion: "taas.dev/v1",
      kind: "TrainingJob",
      metadata: { name, namespace: "ml" },
      spec: { trainer: { model: { name: "mlp" }, optimizer: { learningRate } } },
    });
    server.on("GET", "api/jobs/ml/trainingjobs/mnist/manifest", () => manifest("mnist", 0.1));
    server.on("GET", "api/jobs/ml/trainingjobs/b/manifest", () => manifest("b", 0.5));
    server.on("GET", "api/jobs/ml/trainingjobs/b/series", () => ({ series: {} }));
    server.on("GET", "api/history/u-1", () => ({
      namespace: "ml",
      name: "old",
      manifest: manifest("old", 0.1),
      series: { series: {} },
    }));
    server.on("GET", "api/history/u-2", () => problem(404, "NotFound", "no such job"));
    renderAt(`${PAGE}?with=ml/trainingjobs/b&history=u-1&history=u-2`, { server });
    const region = await screen.findByRole("region", { name: "Differences of the manifests" });
    await waitFor(() => {
      const rows = within(region).getAllByRole("row");
      expect(rows.map((one) => [...one.children].map(({ textContent }) => textContent))).toEqual([
        ["Field", "mnist", "b", "old", "u-2"],
        ["trainer.optimizer.learningRate", "0.1", "0.5", "0.1", "–"],
      ]);
    });
    await screen.findByText("The manifest of u-2 cannot be read.");
  });

  test("offers other jobs, those of the same namespace first", async () => {
    const server = serverOf(CURVES);
    const jobs = [row("b", { namespace: "aa" }), row("c"), row("mnist")];
    server.on("GET", "api/jobs", () => ({ jobs }));
    server.on("GET", "api/history", () => ({ jobs: [] }));
    server.on("GET", "api/jobs/ml/trainingjobs/c/series", () => ({ series: {} }));
    const { user, router } = renderAt(PAGE, { server });
    await user.click(await screen.findByRole("combobox", { name: "Compare with other jobs" }));
    await user.click(await screen.findByTitle("ml/c · TrainingJob"));
    await waitFor(() =>
      expect(router.state.location.search).toBe(`?with=${encodeURIComponent("ml/trainingjobs/c")}`),
    );
    expect(screen.queryByTitle("ml/mnist · TrainingJob")).toBeNull();
  });

  test("says what makes curves where there are none, and why nobody answers", async () => {
    renderAt(PAGE, { server: serverOf({ series: {}, message: "chief-0 refused" }) });
    await screen.findByText("chief-0 refused");
    await screen.findByText("No curves yet");
    expect(screen.getByText(/summaries.everySteps/)).toBeTruthy();
  });

  test("tells a TFJob of what its program may serve, not of fields that it has not", async () => {
    const server = new FakeServer();
    const job = "api/jobs/ml/tfjobs/mnist";
    const state = { runs: 0, files: 0, bytes: 0, bytesTotal: 0, source: "", message: "" };
    server.on("GET", `${job}/series`, () => ({ series: {} }));
    server.on("GET", `${job}/events`, () => ({ ...state, problems: [] }));
    server.on("GET", `${job}/events/data/histograms/tags`, () => ({ tags: [] }));
    const { container } = renderAt("/jobs/ml/tfjobs/mnist/training", { server });
    await screen.findByText(/answers GET \/series/);
    await screen.findByText(/serves its event files at GET \/events/);
    expect(container.textContent).not.toMatch(/spec\.trainer|summaries\./);
  });

  test("has all numbers in a region that the keyboard scrolls", async () => {
    renderAt(PAGE, { server: serverOf(CURVES) });
    const region = await screen.findByRole("region", { name: "In numbers" });
    expect(region.tabIndex).toBe(0);
    within(region).getByRole("table");
  });

  // Symptom: the accuracy of training batches, 0.96, and that of the test data, 0.94, had one name.
  test("names what is of training batches and what is of the test data", async () => {
    const evaluator = { accuracy: [[200, 1011, 0.94]] };
    renderAt(PAGE, { server: serverOf({ ...CURVES, evaluator }) });
    const region = await screen.findByRole("region", { name: "In numbers" });
    const names = within(region).getAllByRole("rowheader");
    expect(names.map(({ textContent }) => textContent)).toEqual([
      "Training loss",
      "Training-batch accuracy",
      "Test accuracy",
    ]);
  });

  test("says that curves are from the archive", async () => {
    renderAt(PAGE, { server: serverOf({ ...CURVES, source: undefined, archived: true }) });
    await screen.findByText("No trainer answers now. These are the curves that were recorded.");
    const accuracy = screen.getByRole("region", { name: "Accuracy" });
    within(accuracy).getByText(/^Values up to step 100 of 300: .*summaries\.dir/);
  });

  test("of a job that has ended without curves says that none will come", async () => {
    const server = serverOf({ series: {}, message: "no replica that keeps curves runs now" });
    renderAt(PAGE, { server });
    await screen.findByText("No curves yet");
    await act(() => server.send("job", { job: jobOf({ name: "mnist", state: "Succeeded" }) }));
    await screen.findByText("This job left no curves");
  });

  test("is Chinese where the user reads Chinese", async () => {
    renderAt(PAGE, { server: serverOf(CURVES), language: "zh" });
    await screen.findByRole("region", { name: "损失" });
    await screen.findByRole("region", { name: "直方图" });
  });
});
