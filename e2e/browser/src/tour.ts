// From page to page, in one browser and one session, with the looks that are asked for.

import type { Browser } from "playwright-core";
import type { Language } from "../../../dashboard/web/src/i18n/language";
import type { Place } from "./pages";
import { places } from "./pages";
import type { Task } from "./task";
import type { Theme, Visit } from "./visit";
import { begin, launch } from "./visit";

export interface Look {
  language: Language;
  theme: Theme;
  width: number;
}

export const WIDTHS = [360, 1280, 2560] as const;
const HEIGHTS: Record<number, number> = { 360: 740, 1280: 800, 2560: 1300 };

export function sizeOf(width: number): { width: number; height: number } {
  return { width, height: HEIGHTS[width] ?? 800 };
}

type See = (visit: Visit, place: Place, look: Look) => Promise<void>;

/** Calls `see` on each page with each look; all that fails is told of at the end. */
export async function tour(
  task: Task,
  looks: Look[],
  see: See,
  where: Place[] = places(task.jobs, task.namespace),
): Promise<void> {
  const browser = await launch();
  const failures: string[] = [];
  try {
    for (const look of looks) await withLook(browser, task, look, { failures, see, where });
  } finally {
    await browser.close();
  }
  if (failures.length > 0) throw new Error(failures.join("\n\n"));
}

async function withLook(
  browser: Browser,
  task: Task,
  look: Look,
  { failures, see, where }: { failures: string[]; see: See; where: Place[] },
): Promise<void> {
  const visit = await begin(task, { ...look, ...sizeOf(look.width) }, browser);
  const { trouble, page } = visit;
  trouble.expect(401, /\/api\/session$/);
  // The draft that was left on one page does not belong on the next picture.
  await page.addInitScript(() => sessionStorage.clear());
  // A page about a job that does not exist, and curves of one that has none, ask in vain.
  trouble.expect(404, /\/series$/);
  const asked = (name: string): boolean => !task.only || task.only.includes(name);
  const name = (place: Place): string =>
    `${place.name}-${look.width}-${look.theme}-${look.language}`;
  const visitTo = async (place: Place, at: () => Promise<void>): Promise<void> => {
    const before = trouble.found.length;
    try {
      await at();
      // Words that the page is known by may stand in the navigation, too, before the page is there.
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await place.until(visit);
      await see(visit, place, look);
    } catch (error) {
      failures.push(`${name(place)}: ${error instanceof Error ? error.message : String(error)}`);
      await visit.picture(name(place));
    }
    for (const one of trouble.found.slice(before)) failures.push(`${name(place)}: ${one}`);
  };
  const login: Place = {
    name: "login",
    at: "",
    until: ({ t }) => page.getByLabel(t.login.token).waitFor(),
  };
  if (asked("login")) await visitTo(login, () => visit.open(""));
  await visit.login();
  for (const place of where) {
    if (!asked(place.name)) continue;
    await visitTo(place, () => visit.open(place.at));
  }
  trouble.found.length = 0;
  await visit.end();
}
