// Waiting for what no event tells of.

import { setTimeout as after } from "node:timers/promises";
import type { Page } from "playwright-core";

// The slowest step is a pod that starts on a busy machine with two cores; less is for who writes a
// test.
export const PATIENCE_MS = 1_000 * Number(process.env["TAAS_PATIENCE_S"] ?? 90);
// Between two looks: each costs the browser a little.
const LOOK_MS = 200;

export async function expectSoon(what: string, look: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await look())) {
    if (Date.now() > end) throw new Error(`${what} did not come within ${PATIENCE_MS / 1000} s`);
    await after(LOOK_MS);
  }
}

/** Until what was changed is drawn. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}
