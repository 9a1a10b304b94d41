import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { FakeServer, problem, session } from "../testing/fake_server";
import { latinWords } from "../testing/latin";
import { renderAt } from "../testing/render";
import { row } from "../testing/rows";
import { PreferencesStore } from "./preferences";

/** What one sees and what a screen reader says. */
function shown(): string {
  const parts = [document.title];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) parts.push(texts.currentNode.textContent ?? "");
  for (const element of document.body.querySelectorAll("*")) {
    // Ant Design names its icons by their files; ours are hidden and stand beside a word.
    if (element.closest("svg, .anticon")) continue;
    for (const name of ["aria-label", "title", "placeholder", "alt", "data-label"]) {
      parts.push(element.getAttribute(name) ?? "");
    }
  }
  return parts.join("\n");
}

/** Of the fake cluster. */
const DATA = ["bert", "ada", "ml", "vision", "queue"];

test("the jobs page is Chinese in all its parts", async () => {
  const server = new FakeServer(session({ readOnly: true, local: true }));
  const { user } = renderAt("/jobs", { server, language: "zh" });
  const rows = [
    row("bert-1", {
      health: "critical",
      healthReason: "CrashLoop",
      owner: "ada",
      queue: "queue",
      labels: { ml: "vision" },
      progress: { step: 4, maxSteps: 9, percent: 44, examplesPerSecond: 1, etaSeconds: 90 },
    }),
    row("bert-2", { state: "Pending", health: "warning", healthReason: "PendingLong" }),
    row("bert-3", { state: "Succeeded", deleting: true }),
  ];
  await server.send("jobs", { full: true, rows, gone: [] });
  await screen.findAllByRole("link", { name: /bert/ });
  expect(latinWords(shown(), DATA)).toEqual([]);
  await user.click(screen.getByRole("checkbox", { name: "选择显示的全部作业" }));
  await screen.findByText("已选择 3 个作业");
  expect(latinWords(shown(), DATA)).toEqual([]);
});

test("empty, failed, missing and unknown pages are Chinese", async () => {
  const server = new FakeServer();
  const empty = renderAt("/jobs", { server, language: "zh" });
  await server.send("cluster", { connected: false, now: "2026-03-01T10:00:00Z" });
  await server.send("jobs", { full: true, rows: [], gone: [] });
  await screen.findByText("还没有作业");
  // The two lines of kubectl are a program's.
  const code = ["apply", "examples", "mnist", "get", "trainingjobs", "yaml"];
  expect(latinWords(shown(), [...DATA, ...code])).toEqual([]);
  empty.unmount();

  const failing = new FakeServer();
  failing.on("GET", "api/stream", () => problem(403, "Forbidden", "403"));
  const failed = renderAt("/jobs", { server: failing, language: "zh" });
  await screen.findByText("无法读取作业");
  expect(latinWords(shown(), DATA)).toEqual([]);
  failed.unmount();

  renderAt("/123/456", { language: "zh" });
  await screen.findByText("没有这个页面");
  expect(latinWords(shown(), DATA)).toEqual([]);
});

test("the login is Chinese", async () => {
  const server = new FakeServer();
  server.on("GET", "api/session", () => problem(401, "Unauthenticated", "401"));
  server.on("POST", "api/session", () => problem(401, "Unauthenticated", "401"));
  const { user } = renderAt("/jobs", { server, language: "zh" });
  await user.type(await screen.findByLabelText("令牌"), "123");
  await user.click(screen.getByRole("button", { name: "登录" }));
  await screen.findByText(/集群不接受此令牌/);
  expect(latinWords(shown(), ["create", "token", "default", "duration"])).toEqual([]);
});

test("the language changes at once, for the whole page, and is remembered", async () => {
  const { user } = renderAt("/nowhere");
  await screen.findByText("There is no such page");
  await user.click(screen.getByRole("button", { name: "Language and theme" }));
  await user.click(await screen.findByText("简体中文"));
  await screen.findByText("没有这个页面");
  await waitFor(() => expect(document.documentElement.lang).toBe("zh-CN"));
  expect(document.title).toContain("没有这个页面");
  expect(new PreferencesStore().get().language).toBe("zh");
});

test("a choice that is stored and unknown counts for nothing", () => {
  localStorage.setItem("taas.language", "tlh");
  localStorage.setItem("taas.theme", "neon");
  expect(new PreferencesStore().get()).toEqual({ language: "en", theme: "system" });
});
