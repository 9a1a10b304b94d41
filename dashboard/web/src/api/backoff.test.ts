import { expect, test } from "vitest";
import { Backoff } from "./backoff";

test("the wait grows from half a second to 15 s, and chance takes up to half of it", () => {
  const waits = (random: () => number): number[] => {
    const backoff = new Backoff(random);
    return Array.from({ length: 8 }, () => backoff.next());
  };
  expect(waits(() => 1)).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  expect(waits(() => 0)).toEqual([250, 500, 1000, 2000, 4000, 7500, 7500, 7500]);
});

test("after a success it begins small again", () => {
  const backoff = new Backoff(() => 1);
  backoff.next();
  backoff.next();
  backoff.reset();
  expect(backoff.next()).toBe(500);
});
