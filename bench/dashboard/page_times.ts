// Times what a person waits for on the pages, in a real browser, as browser_times.py asks for it on
// standard input, one JSON object a line; each answer is one line on standard output.
//
//   {"do": "open", "at": "jobs", "sees": "[role=row][tabindex]", "cold": true}
//       {"firstSeenMs": …, "idleMs": …}   from the start of the navigation; `cold`: nothing cached
//   {"do": "scroll", "for": 5000}
//       {"frames": …, "ms": …, "frameMs": [worst 1 %, worst], "height": px}
//   {"do": "await", "text": "change-7-"}  {"shownAt": …}   ms since 1970, painted
//   {"do": "press", "button": "Load all lines", "text": "Following", "gone": "Loading"}
//       {"ms": …, "said": "Following · 1,000,000 lines"}

import { createInterface } from "node:readline";
import type { Visit } from "../../e2e/browser/src/visit";
import { launch } from "../../e2e/browser/src/visit";

type Page = Visit["page"];

interface Order {
  do: keyof typeof ORDERS;
  at: string;
  sees: string;
  button: string;
  text: string;
  gone: string;
  for: number;
  cold: boolean;
}

const [url = ""] = process.argv.slice(2);
const SIZE = { width: 1440, height: 900 };
// A page that shows nothing for so long does not work.
const LIMIT_MS = 60_000;

const browser = await launch();
let page: Page;
let token = "";

/** A tab of a browser that has never been here, logged in. */
async function freshTab(): Promise<void> {
  const context = await browser.newContext({ viewport: SIZE, locale: "en-GB" });
  context.setDefaultTimeout(LIMIT_MS);
  const login = await context.request.post(new URL("api/session", url).href, {
    headers: { Authorization: `Bearer ${token}`, Origin: new URL(url).origin },
    data: { token },
  });
  if (!login.ok()) throw new Error(`log in: ${login.status()} ${await login.text()}`);
  page = await context.newPage();
}

/** When what is looked for was first painted, and when the page had nothing more to do. */
async function seen(sees: string): Promise<object> {
  return page.evaluate(async (sees) => {
    const next = (): Promise<number> => new Promise((done) => requestAnimationFrame(done));
    while (!document.querySelector(sees)) await next();
    // The frame that shows it has been drawn when the next one begins.
    await next();
    const firstSeenMs = performance.now();
    await new Promise((done) => requestIdleCallback(done));
    return { firstSeenMs, idleMs: performance.now() };
  }, sees);
}

async function open({ at, sees, cold }: Order): Promise<object> {
  if (cold) {
    await page.context().close();
    await freshTab();
  }
  await page.goto(new URL(at, url).href, { waitUntil: "commit" });
  return seen(sees);
}

/** As a finger on a wheel does, over the tallest list of the page. */
async function scroll({ for: ms }: Order): Promise<object> {
  return page.evaluate(async (ms) => {
    const lists = [...document.querySelectorAll("*")].filter(
      (it) => it.clientHeight > 0 && it.scrollHeight > it.clientHeight,
    );
    const list = lists.sort((a, b) => b.scrollHeight - a.scrollHeight)[0];
    if (!list) throw new Error("nothing here scrolls");
    const next = (): Promise<number> => new Promise((done) => requestAnimationFrame(done));
    const began = await next();
    const times: number[] = [];
    for (let before = began, now = before; now - began < ms; before = now) {
      list.scrollTop += 120;
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) list.scrollTop = 0;
      now = await next();
      times.push(now - before);
    }
    const frames = times.length;
    times.sort((a, b) => a - b);
    const worst = [times[Math.floor(frames * 0.99)], times[frames - 1]];
    const height = list.scrollHeight;
    return { frames, ms: times.reduce((sum, one) => sum + one, 0), frameMs: worst, height };
  }, ms);
}

async function awaitText({ text }: Order): Promise<object> {
  return page.evaluate(async (text) => {
    const next = (): Promise<number> => new Promise((done) => requestAnimationFrame(done));
    while (!document.body.textContent.includes(text)) await next();
    await next();
    return { shownAt: performance.timeOrigin + performance.now() };
  }, text);
}

/** From the click until the page says `text`, and no longer `gone`. */
async function press({ button, text, gone }: Order): Promise<object> {
  const target = page.getByRole("button", { name: button, exact: true });
  await target.waitFor();
  const element = await target.elementHandle();
  return page.evaluate(
    async ({ element, text, gone }) => {
      const next = (): Promise<number> => new Promise((done) => requestAnimationFrame(done));
      const says = (words: string): boolean => document.body.textContent.includes(words);
      const since = performance.now();
      (element as HTMLElement).click();
      while (!says(gone)) await next();
      while (says(gone) || !says(text)) await next();
      await next();
      const said = [...document.querySelectorAll("main span")]
        .map((it) => it.textContent)
        .find((words) => words.includes(text));
      return { ms: performance.now() - since, said };
    },
    { element, text, gone },
  );
}

const ORDERS = { open, press, scroll, await: awaitText };

try {
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line) as Order & { token?: string };
    if (order.token !== undefined) {
      token = order.token;
      await freshTab();
      process.stdout.write("{}\n");
      continue;
    }
    process.stdout.write(`${JSON.stringify(await ORDERS[order.do](order))}\n`);
  }
} finally {
  await browser.close();
}
