import { expect, test } from "vitest";
import { compile, marksIn, matchingLines } from "./find";

function startsOf(lines: string[]): Uint32Array {
  let at = 0;
  return Uint32Array.from(lines, (line) => {
    const start = at;
    at += line.length + 1;
    return start;
  });
}

function found(source: string, lines: string[], flags = "gim"): number[] {
  return matchingLines(new RegExp(source, flags), lines.join("\n"), startsOf(lines));
}

test("a text is searched as it is written, an expression as what it means", () => {
  const text = compile({ text: "a.b(", regex: false, matchCase: false });
  expect(text).toBeInstanceOf(RegExp);
  expect("xA.B(x").toMatch(text as RegExp);
  expect("xaxb(x").not.toMatch(text as RegExp);
  expect(compile({ text: "a(", regex: true, matchCase: false })).toMatch(/group|parenthes/i);
  expect(compile({ text: "", regex: true, matchCase: false })).toBeNull();
  expect((compile({ text: "A", regex: false, matchCase: true }) as RegExp).test("a")).toBe(false);
});

test("each line that matches is found once", () => {
  const lines = ["aa a", "", "b", "xa", "a"];
  expect(found("a", lines)).toEqual([0, 3, 4]);
  expect(found("^a", lines)).toEqual([0, 4]);
  expect(found("a$", lines)).toEqual([0, 3, 4]);
  expect(found("^$", lines)).toEqual([1]);
  expect(found("z", lines)).toEqual([]);
});

// A match over the end of a line hid the one within the line.
test("no match goes over the end of a line", () => {
  const lines = ["a ", "b", "a b", " c"];
  expect(found("a\\s+b", lines)).toEqual([2]);
  expect(found("\\s", lines)).toEqual([0, 2, 3]);
  expect(found("[^x]+b", lines)).toEqual([2]);
  expect(found("[^x]{3}", lines)).toEqual([2]);
});

// Against the search of each line by itself.
test("lines searched as one text give what each by itself does", () => {
  let seed = 3;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor(seed / 7) % below;
  };
  const patterns = ["a", "^b", "c$", "a.*c", "\\s", "[^a]", "a|b\\s", "(?!a)b", "x*", "\\bab\\b"];
  for (let round = 0; round < 400; round += 1) {
    const lines = Array.from({ length: random(8) + 1 }, () =>
      Array.from({ length: random(5) }, () => "abc x"[random(5)]).join(""),
    );
    for (const pattern of patterns) {
      const alone = new RegExp(pattern, "im");
      const want = lines.flatMap((line, i) => (alone.test(line) ? [i] : []));
      expect(found(pattern, lines), `${pattern} in ${JSON.stringify(lines)}`).toEqual(want);
    }
  }
});

test("marks are where the text matches; those of nothing are none", () => {
  expect(marksIn(/a/gi, "bAab")).toEqual([
    { from: 1, to: 2 },
    { from: 2, to: 3 },
  ]);
  expect(marksIn(/x*/g, "ab")).toEqual([]);
  expect(marksIn(/x*/g, "axx")).toEqual([{ from: 1, to: 3 }]);
});
