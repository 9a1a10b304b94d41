import { expect, test } from "vitest";
import { plainText } from "./ansi";
import { overwritten } from "./overwrite";

const E = "\u001b";

// Symptom: a bar of tqdm was one endless line, with a box for each time that it went back.
test.each([
  ["no bar at all", "no bar at all"],
  ["  0%|    |\r 50%|##  |\r100%|####|", "100%|####|"],
  ["windows\r", "windows"],
  ["10%\r20%\r", "20%"],
  ["a long line\rshort", "shortg line"],
  ["Epoch 1\r\r\rEpoch 2", "Epoch 2"],
  ["12%\b\b\b34%", "34%"],
  ["\b\b\b\rstep 3", "step 3"],
  ["done\r    \r", "done"],
  [`long text${E}[2K\rnew`, "new"],
  [`long text\rnew${E}[K`, "new"],
  [`abcdef${E}[1Gx\r`, "xbcdef"],
  ["████\r██", "████"],
  ["", ""],
  ["\r", ""],
])("%j shows as %j", (text, shown) => {
  expect(overwritten(text)).toBe(shown);
});

test("colours stay with what they colour", () => {
  const text = `${E}[31mred${E}[0m\r${E}[32mgreen${E}[0m!`;
  expect(overwritten(text)).toBe(`${E}[0m${E}[32mgreen${E}[0m!`);
  expect(plainText(overwritten(`${E}[31m10%${E}[0m\r${E}[31m20%${E}[0m`))).toBe("20%");
});

test("a megabyte of a bar is shown at once", () => {
  const bar = Array.from({ length: 10_000 }, (_, i) => `${i} of 9999 ${"#".repeat(80)}`);
  const begin = performance.now();
  expect(overwritten(bar.join("\r"))).toBe(bar.at(-1));
  expect(performance.now() - begin).toBeLessThan(2_000);
});
