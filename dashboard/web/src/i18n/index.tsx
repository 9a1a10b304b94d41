// Texts in the user's language.
//
//   const { t, format } = useText();
//   <h1>{t.jobs.title}</h1>  {t.common.jobs(3)}  {format.age(200)}
//
// A text lives in en/PAGE.ts and zh/PAGE.ts under the same key; one that is missing on either side
// does not compile. Texts with a value in them are functions, so that word order and plural forms
// are the language's own business.

import type { ReactNode } from "react";
import { createContext, useContext, useMemo } from "react";
import type { Texts } from "./en";
import { en } from "./en";
import type { Format } from "./format";
import { newFormat } from "./format";
import type { Language } from "./language";
import { zh } from "./zh";

const DICTIONARIES: Record<Language, Texts> = { en, zh };

export interface Text {
  language: Language;
  t: Texts;
  format: Format;
}

const TextContext = createContext<Text | undefined>(undefined);

export function TextProvider(props: { language: Language; children: ReactNode }): ReactNode {
  const { language, children } = props;
  const text = useMemo(() => {
    const t = DICTIONARIES[language];
    return { language, t, format: newFormat(language, t) };
  }, [language]);
  return <TextContext value={text}>{children}</TextContext>;
}

export function useText(): Text {
  const text = useContext(TextContext);
  if (!text) throw new Error("useText() outside of TextProvider");
  return text;
}

/** The word for a code of the server; the code itself when it is newer than this page. */
export function wordFor(words: Record<string, string>, code: string): string {
  return Object.hasOwn(words, code) ? (words[code] ?? code) : code;
}
