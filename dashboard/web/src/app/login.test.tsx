import { screen, waitFor } from "@testing-library/react";
import { describe, expect, onTestFinished, test } from "vitest";
import { FakeServer, problem, session } from "../testing/fake_server";
import { renderAt } from "../testing/render";
import { row } from "../testing/rows";
import { takeOneTimeCode } from "./one_time_code";

/** Nobody is logged in before a POST with this body succeeds. */
function lockedServer(accepted: object, refusal = "token has expired"): FakeServer {
  const server = new FakeServer();
  let open = false;
  server.on("GET", "api/session", () =>
    open ? session() : problem(401, "Unauthenticated", "no cookie"),
  );
  server.on("POST", "api/session", ({ body }) => {
    open = body === JSON.stringify(accepted);
    return open ? session() : problem(401, "Unauthenticated", refusal);
  });
  return server;
}

const posted = (server: FakeServer): string[] =>
  server.asked.filter(({ method }) => method === "POST").map(({ body }) => body);

describe("the login", () => {
  test("takes a token, also one with the line ends of a terminal in it", async () => {
    const server = lockedServer({ token: "abc.def.ghi" });
    const { user } = renderAt("/jobs", { server });
    await user.type(await screen.findByLabelText("Bearer token"), "abc.def");
    await user.paste("\n.ghi \n");
    await user.click(screen.getByRole("button", { name: "Log in" }));
    await screen.findByRole("navigation", { name: "Main navigation" });
    expect(posted(server)).toEqual(['{"token":"abc.def.ghi"}']);
  });

  test("is not offered in a frame of another page", async () => {
    const path = "/embed/ml/trainingjobs/m/loss";
    // The gate is outside of the router, whose place here is none of the window's.
    const base = document.head.appendChild(document.createElement("base"));
    base.href = "/";
    window.history.replaceState(null, "", path);
    onTestFinished(() => {
      base.remove();
      window.history.replaceState(null, "", "/");
    });
    renderAt(path, { server: lockedServer({ token: "good" }) });
    await screen.findByRole("link", { name: "Open the dashboard" });
    expect(screen.queryByLabelText("Bearer token")).toBeNull();
  });

  test("says why it failed and what to do, and how to make a token", async () => {
    const server = lockedServer({ token: "good" });
    const { user } = renderAt("/jobs", { server });
    await user.type(await screen.findByLabelText("Bearer token"), "bad{Enter}");
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("it may have expired");
    expect(alert.textContent).toContain("Make a new one with a command below");
    expect(alert.textContent).toContain("token has expired");
  });

  // Symptom: on a local cluster it offered two commands, and both failed there.
  test("names commands that work for this very cluster", async () => {
    const local = lockedServer({ token: "good" });
    local.on("GET", "api/login", () => ({ local: true, link: "taas open --dir '/a b'" }));
    const { unmount } = renderAt("/jobs", { server: local });
    expect(await screen.findByText("taas open --dir '/a b'")).toBeTruthy();
    expect(screen.queryByText(/kubectl/)).toBeNull();
    unmount();
    const cluster = lockedServer({ token: "good" });
    const account = { namespace: "taas-system", name: "taas-dashboard" };
    cluster.on("GET", "api/login", () => ({ local: false, account }));
    renderAt("/jobs", { server: cluster });
    expect(await screen.findByText(/^kubectl -n taas-system create token taas-dash/)).toBeTruthy();
    expect(screen.getByText(/^kubectl -n NAMESPACE create token ACCOUNT/)).toBeTruthy();
    expect(screen.queryByText(/taas open --dir/)).toBeNull();
  });

  test("asks for a token when there is none, without asking the server", async () => {
    const server = lockedServer({ token: "good" });
    const { user } = renderAt("/jobs", { server });
    await user.click(await screen.findByRole("button", { name: "Log in" }));
    expect(await screen.findByText("Paste a token first.")).toBeTruthy();
    expect(posted(server)).toEqual([]);
  });

  test("says so when the dashboard itself does not answer", async () => {
    const server = new FakeServer();
    server.on("GET", "api/session", () => {
      throw new TypeError("Failed to fetch");
    });
    const { user } = renderAt("/jobs", { server });
    expect(await screen.findByText("The dashboard does not answer")).toBeTruthy();
    server.on("GET", "api/session", () => session());
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByRole("navigation", { name: "Main navigation" });
  });

  test("sends the one-time code of the link, once", async () => {
    const server = lockedServer({ code: "once" });
    renderAt("/jobs", { server, code: "once" });
    await screen.findByRole("navigation", { name: "Main navigation" });
    expect(posted(server)).toEqual(['{"code":"once"}']);
  });

  // Symptom: nothing happened, since only the fragment changes.
  test("takes the code of a link that is pasted into the tab of the login", async () => {
    const server = lockedServer({ code: "later" });
    renderAt("/jobs", { server });
    await screen.findByLabelText("Bearer token");
    window.location.hash = "#code=later";
    await screen.findByRole("navigation", { name: "Main navigation" });
    expect(posted(server)).toEqual(['{"code":"later"}']);
    expect(window.location.hash).toBe("");
  });

  // Symptom: a link of `taas open` that was opened twice said "Your session has ended", of a
  // session that held.
  test("leaves who is logged in alone when the link is opened once more", async () => {
    const server = new FakeServer();
    server.on("POST", "api/session", () => problem(401, "Unauthenticated", "used"));
    localStorage.setItem(`taas.session ${new URL(document.baseURI).pathname}`, "half");
    renderAt("/jobs", { server, code: "again" });
    await screen.findByRole("navigation", { name: "Main navigation" });
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(posted(server)).toEqual([]);
  });

  test("leaves who is logged in alone when such a link is pasted", async () => {
    const { server } = renderAt("/jobs");
    await screen.findByRole("navigation", { name: "Main navigation" });
    window.location.hash = "#code=used";
    await waitFor(() => expect(window.location.hash).toBe(""));
    expect(posted(server)).toEqual([]);
  });

  test("explains a one-time code that is used up, and offers a token", async () => {
    const server = lockedServer({ token: "good" }, "the code has been used");
    const { user } = renderAt("/jobs", { server, code: "used" });
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("The one-time code of the link is no longer good");
    expect(alert.textContent).toContain("the code has been used");
    await user.type(screen.getByLabelText("Bearer token"), "good{Enter}");
    await screen.findByRole("navigation", { name: "Main navigation" });
  });

  test("comes above the page when the session ends, and the page goes on after it", async () => {
    const server = new FakeServer();
    server.on("POST", "api/session", () => session({ half: "half-2" }));
    const { user } = renderAt("/jobs?q=bert", { server });
    await server.send("jobs", { full: true, rows: [row("bert")], gone: [] });
    await screen.findByRole("link", { name: "bert" });
    await server.send("end", { reason: "Unauthenticated", message: "expired" });
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain("Your session has ended");
    expect(screen.getByText("bert")).toBeTruthy();
    await user.type(screen.getByLabelText("Bearer token"), "good{Enter}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    await waitFor(() => expect(server.streams).toHaveLength(2));
    expect(server.streams[1]?.headers.get("Last-Event-ID")).toBe("2");
    expect(server.streams[1]?.headers.get("X-TaaS-Session")).toBe("half-2");
  });

  test("of another user shows nothing of the one before", async () => {
    const server = new FakeServer();
    server.on("POST", "api/session", () => session({ user: "grace" }));
    const { user } = renderAt("/jobs", { server });
    await server.send("jobs", { full: true, rows: [row("secret")], gone: [] });
    await screen.findByRole("link", { name: "secret" });
    await server.send("end", { reason: "Unauthenticated", message: "expired" });
    await user.type(await screen.findByLabelText("Bearer token"), "good{Enter}");
    await waitFor(() => expect(screen.queryByText("secret")).toBeNull());
    await waitFor(() => expect(server.streams).toHaveLength(2));
    expect(server.streams[1]?.headers.get("Last-Event-ID")).toBeNull();
  });

  test("ends with a log-out, which opens the page anew", async () => {
    const server = new FakeServer();
    server.on("DELETE", "api/session", () => undefined);
    const { user, reloads } = renderAt("/jobs", { server });
    await user.click(await screen.findByRole("button", { name: "User: ada" }));
    await user.click(await screen.findByText("Log out"));
    await waitFor(() => expect(reloads()).toBe(1));
    expect(Object.keys(localStorage).filter((key) => key.includes("session"))).toEqual([]);
  });

  test("keeps its half in this origin, for this path, and sends it from then on", async () => {
    localStorage.setItem("taas.session /", "half-1");
    localStorage.setItem("taas.session /other/", "half-2");
    const { server } = renderAt("/jobs");
    await screen.findByRole("navigation", { name: "Main navigation" });
    expect(server.asked[0]?.headers.get("X-TaaS-Session")).toBe("half-1");
  });

  test("in another tab loads this one again, which has the other half", async () => {
    const { agains, server, services } = renderAt("/jobs");
    await screen.findByRole("navigation", { name: "Main navigation" });
    const event = { key: "taas.session /", newValue: "half-9" };
    window.dispatchEvent(new StorageEvent("storage", { ...event, key: "taas.theme" }));
    expect(agains()).toBe(0);
    window.dispatchEvent(new StorageEvent("storage", event));
    expect(agains()).toBe(1);
    await services.api.get("api/session");
    expect(server.asked.at(-1)?.headers.get("X-TaaS-Session")).toBe("half-9");
  });
});

describe("the one-time code in the address", () => {
  test.each([
    ["#code=abc", "abc", "/a/jobs?ns=ml"],
    ["#code=a%2Bb&tab=2", "a+b", "/a/jobs?ns=ml#tab=2"],
    ["#code=", undefined, "/a/jobs?ns=ml"],
    ["#other=1", undefined, "/a/jobs?ns=ml#other=1"],
    ["", undefined, "/a/jobs?ns=ml"],
  ])("%s is taken out at once", (hash, code, rest) => {
    window.history.replaceState(null, "", `/a/jobs?ns=ml${hash}`);
    const length = window.history.length;
    expect(takeOneTimeCode(window.location, window.history)).toBe(code);
    const { pathname, search, hash: left } = window.location;
    expect(pathname + search + left).toBe(rest);
    expect(window.history.length).toBe(length);
    window.history.replaceState(null, "", "/");
  });
});
