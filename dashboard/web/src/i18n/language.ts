export type Language = "en" | "zh";

export const LANGUAGES: readonly Language[] = ["en", "zh"];

/** In its own words: who cannot read the present language must find it. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: "English", zh: "简体中文" };

/** Of a list of preferred languages as navigator.languages: the first that we have. */
export function languageOf(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const primary = tag.toLowerCase().split("-")[0];
    if (primary === "zh" || primary === "en") return primary;
  }
  return "en";
}
