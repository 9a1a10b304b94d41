import { describe, expect, test } from "vitest";
import { latinWords } from "../testing/latin";
import { en } from "./en";
import { newFormat } from "./format";
import { languageOf } from "./language";
import { plural } from "./plural";
import { zh } from "./zh";

/** Every text under its path; texts with values in them are called with some. */
function texts(dictionary: object, path = ""): Map<string, string> {
  const all = new Map<string, string>();
  for (const [key, value] of Object.entries(dictionary) as [string, unknown][]) {
    const here = path === "" ? key : `${path}.${key}`;
    if (typeof value === "string") all.set(here, value);
    else if (typeof value === "function") all.set(here, called(value as TextOf, here));
    else for (const [inner, text] of texts(value as object, here)) all.set(inner, text);
  }
  return all;
}

type TextOf = (...values: unknown[]) => unknown;

/** With numbers, or with texts of digits where it wants texts: neither is a word. */
function called(text: TextOf, path: string): string {
  for (const value of [3, "3", ["3"]]) {
    try {
      const result = text(value, value, value, value);
      if (typeof result === "string") return result;
    } catch {
      // It wants another type.
    }
  }
  throw new Error(`${path}: wants values that this test does not know`);
}

const english = texts(en);
// The phrases of the editor are its own in English.
const { submit, ...rest } = zh;
const chinese = texts({ ...rest, submit: { ...submit, editorPhrases: {} } });

describe("the texts", () => {
  test("are there in both languages, and none is empty", () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
    for (const [path, text] of [...english, ...chinese]) {
      expect(text.trim(), path).not.toBe("");
      expect(text, path).not.toMatch(/undefined|NaN|\[object/);
    }
  });

  test("are Chinese in Chinese, but for proper names", () => {
    const mixed = [...chinese]
      .map(([path, text]) => ({ path, words: latinWords(text) }))
      .filter(({ words }) => words.length > 0);
    expect(mixed).toEqual([]);
  });

  test("are English in English", () => {
    const mixed = [...english].filter(([, text]) => /\p{Script=Han}/u.test(text));
    expect(mixed).toEqual([]);
  });

  test("have plural forms in English", () => {
    expect(en.common.jobs(1)).toBe("1 job");
    expect(en.common.jobs(0)).toBe("0 jobs");
    expect(plural(5000, "job", "jobs")).toBe("5,000 jobs");
    expect(zh.common.jobs(1)).toBe("1 个作业");
  });
});

describe("numbers and times", () => {
  const of = { en: newFormat("en", en), zh: newFormat("zh", zh) };

  test.each([
    [0, "0s", "0s", "0 秒"],
    [-5, "0s", "0s", "0 秒"],
    [59.9, "59s", "59s", "59 秒"],
    [60, "1m", "1m", "1 分"],
    [3_725, "1h 2m", "1h", "1 小时 2 分"],
    [90_000, "1d 1h", "1d", "1 天 1 小时"],
    [NaN, "—", "—", "—"],
  ])("%d seconds are %s", (seconds, long, short, longChinese) => {
    expect(of.en.span(seconds)).toBe(long);
    expect(of.en.age(seconds)).toBe(short);
    expect(of.zh.span(seconds)).toBe(longChinese);
  });

  test("follow the language", () => {
    expect(of.en.dateTime("2026-03-01T10:00:05Z")).toContain("Mar 2026");
    expect(of.zh.dateTime("2026-03-01T10:00:05Z")).toContain("2026年3月1日");
    expect(of.en.percent(42)).toBe("42%");
    expect(of.en.memory(40_960)).toBe("40 GiB");
    expect(of.en.short(0.012345)).toBe("0.0123");
    expect(of.en.short(1.8626e-9)).toBe("1.86e-9");
    expect(of.en.short(0)).toBe("0");
  });

  test("stay as they are when they are none", () => {
    expect(of.en.time("yesterday")).toBe("yesterday");
  });
});

test("the language is the first of the browser's that we have", () => {
  expect(languageOf(["fr-FR", "zh-TW", "en"])).toBe("zh");
  expect(languageOf(["EN-us"])).toBe("en");
  expect(languageOf(["fr"])).toBe("en");
  expect(languageOf([])).toBe("en");
});
