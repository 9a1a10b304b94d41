// Numbers, times and lengths of time in the user's language; Intl does the work.

import type { Language } from "./language";
import type { Texts } from "./en";

export interface Format {
  /** 14:03:22 */
  time: (at: number | string) => string;
  /** 3 Mar 2026, 14:03:22 */
  dateTime: (at: number | string) => string;
  number: (value: number) => string;
  /** Three significant digits: for rates and losses. As 1.86e-9 where that is shorter. */
  short: (value: number) => string;
  /** 0 … 100 → "42 %" */
  percent: (value: number) => string;
  /** "3h 12m", of seconds. */
  span: (seconds: number) => string;
  /** The largest unit only, for columns: "3h". */
  age: (seconds: number) => string;
  /** MiB → "40 GiB" */
  memory: (mebibytes: number) => string;
  /** Of files: 3180432 → "3.18 MB", as the command line has it. */
  size: (bytes: number) => string;
}

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

// Below it a number is more noughts than digits.
const TINY = 1e-4;

const LOCALES: Record<Language, string> = { en: "en-GB", zh: "zh-CN" };

export function newFormat(language: Language, texts: Texts): Format {
  const locale = LOCALES[language];
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "medium", hourCycle: "h23" });
  const dateTime = new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "medium",
    hourCycle: "h23",
  });
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const short = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
  const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
  // Times come from clusters: one that is none must not stop the page.
  const ofTime = (format: Intl.DateTimeFormat) => (at: number | string) => {
    const date = new Date(at);
    return Number.isNaN(date.getTime()) ? String(at) : format.format(date);
  };
  return {
    time: ofTime(time),
    dateTime: ofTime(dateTime),
    number: (value) => number.format(value),
    short: (value) => {
      const isTiny = value !== 0 && Math.abs(value) < TINY;
      return isTiny ? value.toExponential(2) : short.format(value);
    },
    percent: (value) => percent.format(value / 100),
    span: (seconds) => spanText(texts.common.span, seconds, true),
    age: (seconds) => spanText(texts.common.span, seconds, false),
    memory: (mebibytes) =>
      mebibytes >= 1024
        ? `${short.format(mebibytes / 1024)} GiB`
        : `${short.format(mebibytes)} MiB`,
    size: (bytes) => {
      let value = bytes;
      let unit = 0;
      while (value >= 999.5 && unit < UNITS.length - 1) {
        value /= 1000;
        unit += 1;
      }
      return `${short.format(value)} ${UNITS[unit]}`;
    },
  };
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function spanText(words: Texts["common"]["span"], seconds: number, second: boolean): string {
  if (!Number.isFinite(seconds)) return "—";
  // A clock that is behind makes no negative ages.
  const whole = Math.max(0, Math.floor(seconds));
  const rest = (unit: number, below: number): number =>
    second ? Math.floor((whole % unit) / below) : 0;
  if (whole >= DAY) return words.days(Math.floor(whole / DAY), rest(DAY, HOUR));
  if (whole >= HOUR) return words.hours(Math.floor(whole / HOUR), rest(HOUR, MINUTE));
  if (whole >= MINUTE) return words.minutes(Math.floor(whole / MINUTE), rest(MINUTE, 1));
  return words.seconds(whole);
}
