import { expect, test } from "vitest";
import { ansiSpans, isPlain, plainText } from "./ansi";

const E = "\u001b";

test("colours become classes and end where they are reset", () => {
  const text = `a ${E}[31mred${E}[0m b ${E}[1;92mbold${E}[22;39m c`;
  expect(ansiSpans(text)).toEqual([
    { text: "a ", style: "" },
    { text: "red", style: "ansi-red" },
    { text: " b ", style: "" },
    { text: "bold", style: "ansi-bright-green ansi-bold" },
    { text: " c", style: "" },
  ]);
  expect(plainText(text)).toBe("a red b bold c");
});

test("of 256 and of 16 million colours the nearest of the sixteen is taken", () => {
  const style = (codes: string): string | undefined => ansiSpans(`${E}[${codes}mx`)[0]?.style;
  expect(style("38;5;9")).toBe("ansi-bright-red");
  expect(style("38;5;196")).toBe("ansi-bright-red");
  expect(style("38;5;232")).toBe("ansi-black");
  expect(style("38;2;0;0;160")).toBe("ansi-blue");
  expect(style("48;2;255;255;0;1")).toBe("ansi-on-bright-yellow ansi-bold");
  expect(style("38;5")).toBe("ansi-black");
  expect(style("38")).toBe("");
});

test("cursor movements, titles, links and other escapes leave no trace", () => {
  const text =
    `${E}[2K${E}[1Adone${E}]0;title\u0007 ` + `${E}]8;;http://x${E}\\link${E}]8;;${E}\\${E}(B.`;
  expect(plainText(text)).toBe("done link.");
  expect(ansiSpans(text).map((span) => span.text).join("")).toBe("done link.");
  // One that never ends.
  expect(plainText(`a${E}]0;title`)).toBe("a");
  expect(plainText(`a${E}[31`)).toBe("a␛[31");
});

test("control characters show as pictures, and the text stays one line", () => {
  expect(plainText("10%\r20%\r\u0000\u007f\n")).toBe("10%␍20%␍␀␡␊");
  expect(isPlain("tab\tand 日本 😀")).toBe(true);
  expect(isPlain("a\rb")).toBe(false);
});

// Symptom: a line that turns the direction of its text was read from its end.
test("what turns a text around shows as its number", () => {
  expect(plainText("ab\u202egnp.exe\u2069")).toBe("ab⟨202E⟩gnp.exe⟨2069⟩");
  expect(plainText("\u009b31m\u2028")).toBe("⟨009B⟩31m⟨2028⟩");
  expect(isPlain("\u202e")).toBe(false);
});

test("markup stays text", () => {
  const html = `${E}[31m<img src=x onerror=alert(1)>`;
  expect(ansiSpans(html)).toEqual([{ text: "<img src=x onerror=alert(1)>", style: "ansi-red" }]);
});

test("spans are the plain text in pieces, whatever the bytes", () => {
  const pieces = [E, "[", "3", "1", "m", ";", "]", "\u0007", "\\", "x", "\r", "0", "K", "(", " "];
  let seed = 7;
  for (let round = 0; round < 3_000; round += 1) {
    let text = "";
    for (let i = 0; i < 12; i += 1) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      text += pieces[seed % pieces.length] ?? "";
    }
    expect(ansiSpans(text).map((span) => span.text).join("")).toBe(plainText(text));
  }
});
