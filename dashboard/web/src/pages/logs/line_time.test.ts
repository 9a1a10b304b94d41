import { expect, test } from "vitest";
import { fromInput, normalTime, TimeReader, timeText, toInput } from "./line_time";

test("times of any precision are read, also those of one second one after the other", () => {
  const reader = new TimeReader();
  const at = Date.parse("2026-11-21T05:54:17Z");
  expect(reader.read("2026-11-21T05:54:17Z")).toBe(at);
  expect(reader.read("2026-11-21T05:54:17.25Z")).toBe(at + 250);
  expect(reader.read("2026-11-21T05:54:17.000000001Z")).toBeCloseTo(at, 3);
  expect(reader.read("2026-11-21T05:54:18.5Z")).toBe(at + 1500);
  expect(reader.read("2026-11-21T07:54:17.5+02:00")).toBe(at + 500);
  expect(reader.read("")).toBeNaN();
  expect(reader.read("yesterdayZ")).toBeNaN();
});

test("normal times are in the order of their texts", () => {
  const texts = ["2026-11-21T05:54:17Z", "2026-11-21T05:54:17.1Z", "2026-11-21T05:54:17.12Z"];
  expect(texts.map(normalTime)).toEqual(texts.map(normalTime).sort());
  expect(normalTime("2026-11-21T05:54:17.1Z")).toBe("2026-11-21T05:54:17.100000000Z");
});

test("a time is written in UTC, in local time, or since a start", () => {
  const at = Date.parse("2026-11-21T05:54:17.250Z");
  expect(timeText(at, "utc", 0)).toBe("11-21 05:54:17.250");
  const local = new Date(at).toTimeString().slice(0, 8);
  expect(timeText(at, "local", 0)).toContain(`${local}.250`);
  expect(timeText(at, "relative", at - 3_723_250)).toBe("+1:02:03.250");
  expect(timeText(at, "relative", at + 1_000)).toBe("−0:00:01.000");
  expect(timeText(at, "off", 0)).toBe("");
  expect(timeText(Number.NaN, "utc", 0)).toBe("");
});

test("the field for a time goes there and back in both zones", () => {
  const at = Date.parse("2026-11-21T05:54:17Z");
  expect(toInput(at, true)).toBe("2026-11-21T05:54:17");
  for (const utc of [true, false]) expect(fromInput(toInput(at, utc), utc)).toBe(at);
});
