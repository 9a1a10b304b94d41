// What holds for every page: axe finds nothing, nothing is written to the console, and nothing is
// wider than the window.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import type * as Axe from "axe-core";
import type { Language } from "../../../dashboard/web/src/i18n/language";
import { tooWide } from "../src/faults";
import { settled } from "../src/patience";
import type { Task } from "../src/task";
import type { Look } from "../src/tour";
import { sizeOf, tour } from "../src/tour";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
// A rule of colours needs both themes, a rule of places both layouts; that both languages come with
// both is not needed. What is only wider than a laptop has nothing new for axe.
const LOOKS: Record<Language, Look[]> = {
  en: [
    { language: "en", theme: "light", width: 1280 },
    { language: "en", theme: "dark", width: 360 },
  ],
  zh: [
    { language: "zh", theme: "dark", width: 1280 },
    { language: "zh", theme: "light", width: 360 },
  ],
};
const LAPTOP = 1280;
const LARGEST = sizeOf(2560);

export async function everyPage(task: Task): Promise<void> {
  await tour(task, LOOKS[task.language], async ({ page }, _place, { width }) => {
    const faults = [...(await tooWide(page)), ...(await violations(page))];
    if (width === LAPTOP) faults.push(...(await tooWideWhenLarge(page)));
    if (faults.length > 0) throw new Error(faults.join("\n"));
  });
}

async function tooWideWhenLarge(page: Page): Promise<string[]> {
  const before = page.viewportSize();
  await page.setViewportSize(LARGEST);
  await settled(page);
  const faults = await tooWide(page);
  if (before) await page.setViewportSize(before);
  return faults;
}

async function violations(page: Page): Promise<string[]> {
  // A bar that stays at the top of what scrolls covers a part of a button that passes below it,
  // which axe takes for one that is too small.
  await page.evaluate(() => document.querySelector("main")?.scrollTo(0, 0));
  // Through the debugger: a script element would be refused by the page's policy.
  await page.evaluate(AXE);
  const found = await page.evaluate(async (tags) => {
    const { axe } = window as unknown as { axe: typeof Axe };
    const { violations } = await axe.run(document, {
      runOnly: { type: "tag", values: tags },
      resultTypes: ["violations"],
    });
    return violations.map(({ id, help, nodes }) => ({
      text: `axe ${id}: ${help} (${nodes.length})`,
      nodes: nodes.slice(0, 3).map(({ target, failureSummary = "" }) => ({
        target: target.join(" "),
        why: failureSummary.split("\n").slice(1, 3).join(" ").trim(),
      })),
    }));
  }, RULES);
  return found.map(
    ({ text, nodes }) =>
      `  ${text}${nodes.map(({ target, why }) => `\n    ${target}: ${why}`).join("")}`,
  );
}
