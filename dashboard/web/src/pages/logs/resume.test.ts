import { expect, test } from "vitest";
import type { LogRecord } from "../../api/types";
import { Resume } from "./resume";

function line(second: string, text: string, replica = "worker-0"): LogRecord {
  return { t: `2026-11-21T05:54:${second}Z`, r: replica, l: text };
}

function newOf(resume: Resume, records: LogRecord[]): string[] {
  return records.filter((record) => resume.isNew(record)).map((r) => ("l" in r ? r.l : r.note));
}

test("after a lost connection only what is new comes", () => {
  const resume = new Resume();
  const worker = [line("17.1", "a"), line("17.2", "b"), line("17.2", "twin")];
  const before = [...worker, line("16", "p", "ps-0")];
  expect(newOf(resume, before)).toEqual(["a", "b", "twin", "p"]);
  expect(resume.since).toBe("2026-11-21T05:54:07.200Z");
  resume.restart();
  const again = [...before, line("17.2", "third"), line("16.5", "q", "ps-0"), line("18", "c")];
  expect(newOf(resume, again)).toEqual(["third", "q", "c"]);
});

test("a clock that is set back loses nothing while the connection holds", () => {
  const resume = new Resume();
  const lines = [line("17", "a"), line("12", "b"), line("12", "c")];
  expect(newOf(resume, lines)).toEqual(["a", "b", "c"]);
});

test("lines without a time come always, notes and an error that goes on once", () => {
  const resume = new Resume();
  const begin: LogRecord = { r: "ps-0", note: "begin", podNumber: 1 };
  const error: LogRecord = { r: "ps-0", note: "error", message: "lost" };
  const records = [begin, { t: "", r: "ps-0", l: "x" }, error];
  expect(newOf(resume, records)).toEqual(["begin", "x", "error"]);
  resume.restart();
  expect(newOf(resume, records)).toEqual(["x"]);
  expect(newOf(resume, [{ ...error, message: "other" }])).toEqual(["error"]);
  expect(newOf(resume, [line("17", "a", "ps-0"), error])).toEqual(["a", "error"]);
  expect(newOf(resume, [{ ...begin, podNumber: 2 }])).toEqual(["begin"]);
});
