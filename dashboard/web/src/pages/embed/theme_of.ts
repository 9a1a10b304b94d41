// ?theme= of a frame: the page around it knows which one fits.

import type { ThemeChoice } from "../../app/preferences";
import { THEMES } from "../../app/preferences";

/** undefined: as this person's other pages. */
export function themeOf(search: URLSearchParams): ThemeChoice | undefined {
  return THEMES.find((theme) => theme === search.get("theme"));
}
