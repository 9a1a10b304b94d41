// Without a mouse: a job is opened from the list, then its log, and lines are searched.

import { heading } from "../src/steps";
import type { Visit } from "../src/visit";

// More stops than any page has before what is looked for.
const STOPS_MAX = 60;

export async function keyboardOnly(visit: Visit): Promise<void> {
  const { page, t, task } = visit;
  const name = task.jobs["tfjob"] ?? "";
  await page.getByRole("row").filter({ hasText: name }).waitFor();
  await page.keyboard.press("Tab");
  await expectFocus(visit, t.shell.skip);
  await page.keyboard.press("Enter");
  await tabTo(visit, "a row of the table", () => document.activeElement?.role === "row");
  await goDownTo(visit, name);
  await page.keyboard.press("Enter");
  await heading(visit, name).waitFor();
  const logs = t.job.logs;
  await tabTo(visit, logs, (text) => {
    const link = document.activeElement;
    return link?.tagName === "A" && link.textContent === text;
  }, logs);
  await page.keyboard.press("Enter");
  await page.getByRole("log").locator(".logs-text").nth(3).waitFor();
  await tabTo(visit, "the lines", () => document.activeElement?.role === "log");
  await page.keyboard.press("/");
  await page.keyboard.type("Worker");
  await page.locator("mark").first().waitFor();
}

/** Presses Tab until `there` says so in the page; each stop on the way must be seen. */
async function tabTo<A>(
  visit: Visit,
  what: string,
  there: (argument: A) => boolean,
  argument?: A,
): Promise<void> {
  const { page } = visit;
  for (let stop = 0; stop < STOPS_MAX; stop += 1) {
    await page.keyboard.press("Tab");
    const hidden = await page.evaluate(invisibleFocus);
    if (hidden !== "") throw new Error(`the keyboard is on what one cannot see: ${hidden}`);
    if (await page.evaluate(there as (argument: unknown) => boolean, argument)) return;
  }
  throw new Error(`${what} is not among the first ${STOPS_MAX} stops of the tab key`);
}

async function goDownTo({ page }: Visit, name: string): Promise<void> {
  for (let row = 0; row < STOPS_MAX; row += 1) {
    const text = await page.evaluate(() => document.activeElement?.textContent ?? "");
    if (text.includes(name)) return;
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(
      (before) => document.activeElement?.textContent !== before,
      text,
    );
  }
  throw new Error(`the arrow keys do not lead to ${name}`);
}

async function expectFocus({ page }: Visit, text: string): Promise<void> {
  const on = await page.evaluate(() => document.activeElement?.textContent ?? "");
  if (on !== text) throw new Error(`the keyboard is on “${on}” instead of “${text}”`);
}

/** In the page: "" when the focus shows, else what it is on. */
function invisibleFocus(): string {
  const element = document.activeElement;
  if (!element || element === document.body) return "";
  const { width, height, top, left } = element.getBoundingClientRect();
  const inside = top < innerHeight && left < innerWidth && top + height > 0 && left + width > 0;
  // A control may leave its mark to the frame around it: an input of a list three steps above.
  let marked = false;
  for (let part: Element | null = element, up = 0; part && up <= 3; up += 1) {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(part);
    marked ||= (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
    part = part.parentElement;
  }
  if (inside && width > 1 && height > 1 && marked) return "";
  const seen = `marked: ${String(marked)}, inside: ${String(inside)}`;
  return `${element.outerHTML.slice(0, 200)} (${seen})`;
}
