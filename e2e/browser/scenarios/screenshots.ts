// A picture of every page at three widths, in both themes and both languages.

import path from "node:path";
import { LANGUAGES } from "../../../dashboard/web/src/i18n/language";
import type { Task } from "../src/task";
import { tour, WIDTHS } from "../src/tour";
import { THEMES } from "../src/visit";

export async function screenshots(task: Task): Promise<void> {
  const looks = LANGUAGES.flatMap((language) =>
    THEMES.flatMap((theme) => WIDTHS.map((width) => ({ language, theme, width }))),
  ).filter(({ language, theme, width }) => isAsked(task, `${language}-${theme}-${width}`));
  await tour(task, looks, async (visit, place, { language, theme, width }) => {
    const file = path.join(`${language}-${theme}-${width}`, place.name);
    await visit.picture(file);
  });
}

/** "en-light-1280" of `looks`, where some are named. */
function isAsked({ looks }: Task, look: string): boolean {
  return !looks || looks.includes(look);
}
