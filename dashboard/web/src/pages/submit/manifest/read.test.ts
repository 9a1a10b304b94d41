import { describe, expect, test } from "vitest";
import type { Json } from "./path";
import { READ_HERE_MAX, readManifest } from "./read";
import { keyInText, placeInText } from "./spot";

function valueOf(text: string): Json {
  const reading = readManifest(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.manifest.value;
}

function problemOf(text: string): string {
  const reading = readManifest(text);
  const [first] = reading.ok ? [] : reading.problems;
  return first ? `${first.code} ${first.line}:${first.column}` : "none";
}

describe("scalars are read as the server reads them", () => {
  // The cases of operator/api/manifest.cc.
  test.each<[string, Json]>([
    ["yes", true],
    ["n", false],
    ["~", null],
    ["Null", null],
    ["nUll", "nUll"],
    ["0x1F", 31],
    ["-0x1f", -31],
    ["0o17", 15],
    ["017", 15],
    ["089", 89],
    ["0b11", 3],
    ["1_000", 1000],
    ["1e3", 1000],
    ["1.", 1],
    [".5", 0.5],
    ["+5", 5],
    ["1:30", "1:30"],
    ["2026-03-01", "2026-03-01"],
    ["1Gi", "1Gi"],
    ["0x", "0x"],
    ['"1"', "1"],
    ["!!str 1", "1"],
  ])("%s", (text, wanted) => {
    expect(valueOf(`a: ${text}\n`)).toEqual({ a: wanted });
  });
});

describe("what cannot be read says where", () => {
  test.each([
    ["a: [1\nb: 2\n", "BAD_INDENT 2:1"],
    ["a:\n\tb: 1\n", "TAB_AS_INDENT"],
    ["a: 1\na: 2\n", "DUPLICATE_KEY 2:1"],
    ["a: .inf\n", "TAG_RESOLVE_FAILED 1:4"],
    ["a: !mine 1\n", "TAG_RESOLVE_FAILED 1:4"],
    ["a: *b\n", "BAD_ALIAS 1:4"],
    ["a: 1\n---\nb: 2\n", "SeveralDocuments 3:1"],
  ])("%j", (text, wanted) => {
    expect(problemOf(text)).toContain(wanted);
  });

  test("also where it would take for ever", () => {
    let bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (let i = 1; i < 12; ++i) {
      bomb += `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(", ")}]\n`;
    }
    expect(problemOf(bomb)).toContain("Unreadable");
    expect(problemOf("[".repeat(50_000))).not.toBe("none");
    expect(problemOf("x".repeat(READ_HERE_MAX + 1))).toContain("TooLarge");
  });
});

test("nothing, comments and empty documents are nothing", () => {
  for (const text of ["", "# a\n", "---\n", "--- # b\n---\n"]) expect(valueOf(text)).toBe(null);
  expect(valueOf("---\na: 1\n---\n")).toEqual({ a: 1 });
});

test("a key that is called as a part of every object is a key", () => {
  const value = valueOf("__proto__: {a: 1}\nconstructor: 2\n");
  expect(Object.keys(value as object)).toEqual(["__proto__", "constructor"]);
  expect(({} as Record<string, unknown>).a).toBe(undefined);
});

describe("a place in the text", () => {
  const text = "a:\n  b: {c: 1}\n  d:\n    - e: xyz\n";
  const reading = readManifest(text);
  const at = (path: (string | number)[], key = false): string => {
    if (!reading.ok) throw new Error("unreadable");
    const place = (key ? keyInText : placeInText)(reading.manifest, path);
    return `${place.line} ${text.slice(place.from, place.to)}`;
  };

  test("is the value, or the key where there is no one line for it", () => {
    expect(at(["a", "b", "c"])).toBe("2 1");
    expect(at(["a", "b"])).toBe("2 {c: 1}");
    expect(at(["a", "d"])).toBe("3 d");
    expect(at(["a", "d", 0, "e"])).toBe("4 xyz");
    expect(at(["a", "d", 0])).toBe("4 e: xyz");
    expect(at(["a", "b", "c"], true)).toBe("2 c");
  });

  test("of what lacks is that of what it lacks in", () => {
    expect(at(["a", "missing", "more"])).toBe("1 a");
    expect(at([])).toBe("1 ");
  });
});
