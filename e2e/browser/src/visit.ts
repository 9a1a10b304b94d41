// One person's visit to the dashboard: a browser of its own, language, theme and size.
//
//   const visit = await begin(task, { language: "zh" });
//   await visit.login();
//   await visit.page.getByRole("link", { name: visit.t.shell.submit }).click();
//   await visit.end();                                  // throws when the page made trouble
//
// Ownership: the browser and its profile, in a temporary folder, go with end(). Errors: what was
// waited for did not come within PATIENCE_MS, or `trouble`.

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { chromium } from "playwright-core";
import type { Language } from "../../../dashboard/web/src/i18n/language";
import type { Texts } from "../../../dashboard/web/src/i18n/en";
import { en } from "../../../dashboard/web/src/i18n/en";
import { zh } from "../../../dashboard/web/src/i18n/zh";
import { act } from "./acts";
import { serveBuiltPage } from "./built_page";
import { PATIENCE_MS, settled } from "./patience";
import type { Task } from "./task";
import type { Trouble } from "./trouble";
import { watch } from "./trouble";

export const TEXTS: Record<Language, Texts> = { en, zh };
export const THEMES = ["light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

// The engine without a window around it: a fifth less work for a page, and half of it to begin.
const SHELL = "/usr/lib/chromium/chromium-headless-shell";
const CHROMIUM = process.env["TAAS_CHROMIUM"] ?? SHELL;
// The kernel gives a browser of root no sandbox of its own.
const FLAGS = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
// Nothing but this machine: what the browser itself would like to fetch finds no address.
const OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"];

export interface Look {
  language: Language;
  theme?: Theme;
  width?: number;
  height?: number;
}

export interface Visit {
  task: Task;
  language: Language;
  t: Texts;
  page: Page;
  trouble: Trouble;
  login: () => Promise<void>;
  /** An address below the dashboard's own. */
  open: (where: string) => Promise<void>;
  /** Ends it; throws what `trouble` found. */
  end: () => Promise<void>;
  /** Of the whole page, also what one must scroll to; to folder/NAME.png. */
  picture: (name: string) => Promise<void>;
  /** Writes what one sees now, and ends it. */
  abandon: (name: string) => Promise<void>;
}

export async function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...OFFLINE] });
}

export async function begin(task: Task, look: Look, shared?: Browser): Promise<Visit> {
  const browser = shared ?? (await launch());
  const { language, theme = "light", width = 1280, height = 800 } = look;
  const context = await browser.newContext({
    locale: language === "zh" ? "zh-CN" : "en-GB",
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: "reduce",
    acceptDownloads: false,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  await serveBuiltPage(context);
  const trouble = watch(context, new URL(task.url).origin);
  const page = await context.newPage();
  const t = TEXTS[language];
  const open = async (where: string): Promise<void> => {
    await page.goto(new URL(where, task.url).href);
  };
  const close = async (): Promise<void> => {
    await context.close();
    if (!shared) await browser.close();
  };
  const end = async (): Promise<void> => {
    await close();
    if (trouble.found.length > 0) throw new Error(trouble.found.join("\n"));
  };
  const size = { width, height };
  const picture = (name: string): Promise<void> =>
    pictureOf(page, path.join(task.folder, `${name}.png`), size);
  const abandon = async (name: string): Promise<void> => {
    if (page.isClosed()) return;
    const file = path.join(task.folder, name);
    for (const [number, tab] of context.pages().entries()) {
      await pictureOf(tab, number === 0 ? `${file}.png` : `${file}-${number}.png`, size);
    }
    writeFileSync(`${file}.console.txt`, [...trouble.found, "", ...trouble.said, ""].join("\n"));
    writeFileSync(`${file}.html`, `<!-- ${page.url()} -->\n${await page.content()}`);
    await close();
  };
  const visit: Visit = {
    ...{ task, language, t, page, trouble, open, end, picture, abandon },
    login: () => login(visit),
  };
  return visit;
}

/** As a person does it: by the link that `taas open` printed, or by pasting a token. */
async function login({ task, page, t, open, trouble }: Visit): Promise<void> {
  if (task.token === undefined) {
    // Good once and for ten minutes, so it is asked for now. It names the server itself, which may
    // be behind a proxy.
    const { hash } = new URL(String(await act("link")));
    // Of an address that is open already only the fragment would change.
    await page.goto("about:blank");
    await open(hash);
  } else {
    // Who is not logged in yet is asked to.
    trouble.expect(401, /\/api\/session$/);
    await open("");
    await page.getByLabel(t.login.token).fill(task.token);
    await page.getByRole("button", { name: t.login.submit }).click();
  }
  await page.getByRole("heading", { level: 1, name: t.jobs.title }).waitFor();
}

// A page of the longest table, and no more.
const HEIGHT_MAX = 4_000;
// Histograms that load as they come into sight need two or three.
const ROUNDS = 5;

/** What has come into sight by that is loaded; what has not waits without a sign of it. */
async function drawn(page: Page): Promise<void> {
  await settled(page);
  await page.waitForFunction(() => document.querySelector(".histogram-waits > *") === null);
}

function hiddenOf(page: Page): Promise<number> {
  return page.evaluate(() => {
    const main = document.querySelector("main");
    return main ? main.scrollHeight - main.clientHeight : 0;
  });
}

/** Its main part scrolls, so the window is made as high as what is in it. */
async function pictureOf(page: Page, file: string, size: { width: number; height: number }) {
  mkdirSync(path.dirname(file), { recursive: true });
  // What has just come, such as a dialog, is in the page before it is on the screen.
  await drawn(page);
  let { height } = size;
  let hidden = await hiddenOf(page);
  // What comes into sight grows when it is loaded, and hides what is below it again.
  for (let round = 0; round < ROUNDS && hidden > 0 && height < HEIGHT_MAX; round += 1) {
    height = Math.min(HEIGHT_MAX, height + hidden);
    await page.setViewportSize({ width: size.width, height });
    await drawn(page);
    const left = await hiddenOf(page);
    // A part that is as high as the window hides the same again, however high that is.
    if (left === hidden) break;
    hidden = left;
  }
  await page.screenshot({ path: file });
  if (height !== size.height) await page.setViewportSize(size);
}
