import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake_server";
import { renderAt } from "../testing/render";
import { row } from "../testing/rows";

test("the page says that it is live, and that it is connecting again", async () => {
  const server = new FakeServer();
  renderAt("/jobs", { server });
  await server.send("jobs", { full: true, rows: [row("bert")], gone: [] });
  await screen.findByText("Live");
  server.cut();
  await screen.findByText("Reconnecting");
  await screen.findByText("Live");
  expect(screen.getByText("bert")).toBeTruthy();
});

test("the mark keeps its place on a page without a stream", async () => {
  const { container } = renderAt("/submit");
  await screen.findByRole("navigation", { name: "Main navigation" });
  const mark = container.querySelector(".header .connection");
  expect(mark?.getAttribute("aria-hidden")).toBe("true");
});

test("a cluster that does not answer: what one sees is as of then", async () => {
  const server = new FakeServer();
  renderAt("/jobs", { server });
  await server.send("jobs", { full: true, rows: [row("bert")], gone: [] });
  const since = new Date(2026, 2, 1, 14, 3, 22).toISOString();
  await server.send("cluster", {
    connected: false,
    since,
    message: "connection refused",
    now: "2026-03-01T15:00:00Z",
  });
  await screen.findByText(/What you see is as of 14:03:22/);
  expect(screen.getByText("connection refused")).toBeTruthy();
  expect(screen.getByText("bert")).toBeTruthy();
  await server.send("cluster", { connected: true, now: "2026-03-01T15:00:01Z" });
  await waitFor(() => expect(screen.queryByText(/as of/)).toBeNull());
});

test("ages go by the cluster's clock, not by this machine's", async () => {
  const server = new FakeServer();
  renderAt("/jobs", { server });
  await server.send("cluster", { connected: true, now: "2031-03-01T12:00:00Z" });
  const rows = [row("bert", { created: "2031-03-01T09:00:00Z" })];
  await server.send("jobs", { full: true, rows, gone: [] });
  await screen.findByText("3h");
});

test("the switch has namespaces of the session and of jobs; links keep the choice", async () => {
  const server = new FakeServer();
  const { user, router } = renderAt("/jobs", { server });
  await server.send("jobs", { full: true, rows: [row("a", { namespace: "new" })], gone: [] });
  await user.click(await screen.findByRole("combobox", { name: "Namespace" }));
  for (const name of ["All namespaces", "ml", "vision"]) {
    expect((await screen.findAllByTitle(name)).length).toBeGreaterThan(0);
  }
  await user.click(screen.getAllByTitle("new").at(-1) as HTMLElement);
  await waitFor(() => expect(router.state.location.search).toBe("?ns=new"));
  const link = screen.getByRole("link", { name: "GPUs" });
  expect(link.getAttribute("href")).toBe("/gpus?ns=new");
});
