import { expect, test } from "vitest";
import { en } from "../../i18n/en";
import { zh } from "../../i18n/zh";
import { adviceFor, saidWords, whyWords } from "./said";

test("of the contract's termination message the sentence and step show, else the text", () => {
  expect(saidWords('{"message":"no such file","step":0}', en)).toBe("no such file (at step 0)");
  expect(saidWords('{"message":"no such file","step":1200}', zh)).toBe(
    "no such file（第 1,200 步）",
  );
  expect(saidWords('{"message":"done"}', en)).toBe("done");
  for (const text of ["Segmentation fault", '{"step":3}', "{oops", '{"message":7}']) {
    expect(saidWords(text, en)).toBe(text);
  }
});

test("why a pod failed is said without a reason that stands beside it", () => {
  const said = '{"message":"open /data: no such file","step":0}';
  const sentence = "open /data: no such file (at step 0)";
  expect(whyWords(`Error: ${said}`, en)).toBe(`Error: ${sentence}`);
  expect(whyWords(`OOMKilled: ${said}`, en)).toBe(`OOMKilled: ${sentence}`);
  expect(whyWords(`OOMKilled: ${said}`, en, "OOMKilled")).toBe(sentence);
  expect(whyWords("Evicted: low on memory\nand disk", en)).toBe("Evicted: low on memory\nand disk");
  expect(whyWords("gone", en)).toBe("gone");
});

test("nobody is sent to the log of a program that was not started", () => {
  expect(adviceFor("PodFailed", false, en)).toContain("last lines");
  expect(adviceFor("PodFailed", true, en)).toContain("there is no log");
  expect(adviceFor("ImagePull", true, en)).toBe(en.job.advice.ImagePull);
});
