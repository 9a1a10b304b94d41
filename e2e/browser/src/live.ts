// What moves on the pages by itself: curves, lines of logs.

import { expectSoon, settled } from "./patience";
import type { Visit } from "./visit";

/** Until the chart of that name has a line on it, and its last step has become a later one. */
export async function awaitCurve({ page, t }: Visit, chart: string): Promise<void> {
  await page.getByRole("slider", { name: t.training.chartOf(chart), exact: true }).waitFor();
  // In the table below the charts.
  const row = page.getByRole("row").filter({ hasText: chart }).first();
  await row.waitFor();
  const first = await row.innerText();
  await expectSoon("the numbers of a curve that is live to change", async () => {
    return (await row.innerText()) !== first;
  });
  const ink = await page
    .getByRole("slider", { name: t.training.chartOf(chart), exact: true })
    .locator("canvas")
    .evaluate(colours);
  if (ink < 3) throw new Error(`the chart ${chart} has ${ink} colours on it, and so no line`);
}

/** Of how many different colours a picture is. */
function colours(element: Node): number {
  const canvas = element as HTMLCanvasElement;
  const picture = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set<number>();
  const { data } = picture ?? { data: new Uint8ClampedArray() };
  for (let at = 0; at < data.length; at += 4) {
    seen.add(((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0));
  }
  return seen.size;
}

/** Until lines of each of these replicas stand on the page of logs, in one list. */
export async function awaitLogsOf(visit: Visit, replicas: string[]): Promise<void> {
  const { page, t } = visit;
  const lines = page.getByRole("log", { name: t.logs.region });
  await lines.waitFor();
  await lines.focus();
  const left = new Set(replicas);
  await expectSoon("lines of all replicas", async () => {
    // From the top once more, since only the lines in sight are in the page.
    await page.keyboard.press("Home");
    // A replica may have one line, the first of all: it is missed where it is not there yet.
    await settled(page);
    for (let screens = 0; screens < SCREENS_MAX && left.size > 0; screens += 1) {
      for (const name of await lines.locator(".logs-name").allInnerTexts()) left.delete(name);
      await page.keyboard.press("PageDown");
      await settled(page);
    }
    return left.size === 0;
  });
}

// Of 4,000 lines, and more than that when they come fast.
const SCREENS_MAX = 150;
