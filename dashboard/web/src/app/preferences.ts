// Language and theme of this person in this browser.

import { Cell } from "../api/cell";
import type { Language } from "../i18n/language";
import { LANGUAGES, languageOf } from "../i18n/language";

export type ThemeChoice = "light" | "dark" | "system";
export const THEMES: readonly ThemeChoice[] = ["light", "dark", "system"];

export interface Preferences {
  language: Language;
  theme: ThemeChoice;
}

const LANGUAGE_KEY = "taas.language";
const THEME_KEY = "taas.theme";

// Where storage is switched off the choice holds until the tab closes.
function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // See stored().
  }
}

function read(): Preferences {
  const language = LANGUAGES.find((one) => one === stored(LANGUAGE_KEY));
  const theme = THEMES.find((one) => one === stored(THEME_KEY));
  return { language: language ?? languageOf(navigator.languages), theme: theme ?? "system" };
}

export class PreferencesStore extends Cell<Preferences> {
  constructor() {
    super(read());
  }

  readonly setLanguage = (language: Language): void => {
    store(LANGUAGE_KEY, language);
    this.set({ ...this.get(), language });
  };

  readonly setTheme = (theme: ThemeChoice): void => {
    store(THEME_KEY, theme);
    this.set({ ...this.get(), theme });
  };
}
