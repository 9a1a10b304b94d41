import { screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { FakeServer, problem } from "../../testing/fake_server";
import { renderAt } from "../../testing/render";
import { fakeCanvas, tagOf } from "../training/histograms/fixture";
import { isEmbedded } from "./in_frame";

beforeEach(() => {
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue({} as never);
});

const SERIES = "api/jobs/ml/trainingjobs/mnist/series";

test("one chart fills the frame, with a link out of it and no shell", async () => {
  const server = new FakeServer();
  server.on("GET", SERIES, () => ({
    source: "chief-0",
    series: { "global_step/sec": [[1, 1, 2]], loss: [[1, 1, 1]] },
  }));
  const { container, preferences } = renderAt(
    "/embed/ml/trainingjobs/mnist/global_step%2Fsec?theme=dark&log=1",
    { server },
  );
  await screen.findByRole("region", { name: "Steps per second (steps/s)" });
  expect(screen.queryByRole("region", { name: "Loss" })).toBeNull();
  const heading = screen.getByRole("heading", { level: 1 });
  expect(heading.textContent).toBe("Steps per second (steps/s) · mnist");
  expect(document.title).toBe("Steps per second (steps/s) · mnist");
  expect(container.querySelector("nav, header")).toBeNull();
  const link = screen.getByRole("link", { name: "Open the full page" });
  expect(link.getAttribute("href")).toBe(
    "/jobs/ml/trainingjobs/mnist/training?theme=dark&log=1",
  );
  expect([link.getAttribute("target"), link.getAttribute("rel")]).toEqual(["_blank", "noopener"]);
  await waitFor(() => expect(preferences.get().theme).toBe("dark"));
  expect(localStorage.getItem("taas.theme")).toBeNull();
});

test("a curve that is not there is said, with the trainer's reason", async () => {
  const server = new FakeServer();
  server.on("GET", SERIES, () => ({ series: {}, message: "nobody answers" }));
  renderAt("/embed/ml/trainingjobs/mnist/loss", { server });
  await screen.findByText("This job has no curve named Loss yet.");
  expect(screen.getByText("nobody answers")).toBeTruthy();
});

test("the histograms of one tag fill the frame", async () => {
  fakeCanvas();
  const server = new FakeServer();
  const events = "api/jobs/ml/trainingjobs/mnist/events";
  const state = { files: 1, bytes: 1, bytesTotal: 1, source: "chief-0", message: "", problems: [] };
  const tags = ["hidden1/weights", "hidden1/biases"].map((tag) => tagOf(tag));
  server.on("GET", events, () => ({ ...state, runs: 1 }));
  server.on("GET", `${events}/data/histograms/tags`, () => ({ tags }));
  server.on("GET", `${events}/data/histograms/series`, () => ({
    inRange: 1,
    histograms: [{ step: 5, wall: 1, min: 0, max: 2, edges: [0, 2], counts: [3] }],
  }));
  const frame = "/embed/ml/trainingjobs/mnist/histogram?run=.&mode=overlay&tag=";
  const { container, unmount } = renderAt(`${frame}hidden1%2Fweights`, { server });
  await screen.findByRole("img", { name: /^Overlay of hidden1\/weights/ });
  expect(screen.queryByRole("region", { name: "hidden1/biases" })).toBeNull();
  screen.getByRole("heading", { level: 1, name: "hidden1/weights · mnist" });
  expect(container.querySelector("nav, header")).toBeNull();
  expect(screen.getByRole("link", { name: "Open the full page" })).toBeTruthy();
  unmount();
  renderAt(`${frame}other`, { server });
  await screen.findByText("This job has no histograms of other yet.");
});

test("a curve may be named as histograms are", async () => {
  const server = new FakeServer();
  server.on("GET", SERIES, () => ({ source: "chief-0", series: { histogram: [[1, 1, 1]] } }));
  renderAt("/embed/ml/trainingjobs/mnist/histogram", { server });
  await screen.findByRole("slider", { name: "Chart: histogram" });
});

test("who is not logged in gets a link, and no form", async () => {
  const server = new FakeServer();
  server.on("GET", SERIES, () => problem(401, "Unauthenticated", "log in"));
  renderAt("/embed/ml/trainingjobs/mnist/loss", { server });
  await screen.findByText("Log in to the dashboard to see this chart.");
});

test("only pages below embed/ are for frames", () => {
  const base = "http://x.test/sub/";
  expect(isEmbedded("http://x.test/sub/embed/a/b/c/d?x=1", base)).toBe(true);
  expect(isEmbedded("http://x.test/sub/jobs", base)).toBe(false);
  expect(isEmbedded("http://x.test/embed/a", base)).toBe(false);
});
