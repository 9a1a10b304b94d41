// The day of a time, in the user's language: a heading above the entries of that day.

import { useMemo } from "react";
import { useText } from "../../../i18n";

export function useDay(): (at: string) => string {
  const { language } = useText();
  return useMemo(() => {
    const day = new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en-GB", {
      dateStyle: "full",
    });
    return (at) => {
      const date = new Date(at);
      return Number.isNaN(date.getTime()) ? at : day.format(date);
    };
  }, [language]);
}
