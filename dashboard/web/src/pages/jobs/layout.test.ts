import { expect, test } from "vitest";
import { row } from "../../testing/rows";
import { heightOf, layoutOf, ROW_HEIGHTS } from "./layout";

const progress = { step: 1, maxSteps: 2, percent: 50, examplesPerSecond: 1 };

// Symptom: on a phone a third of each card was empty, the room of what the job does not have.
test("a card is as high as what its job has", () => {
  const full = row("a", { progress, message: "x", owner: "ada" });
  expect(heightOf("cards", full)).toBe(ROW_HEIGHTS.cards);
  expect(heightOf("cards", row("a"))).toBe(ROW_HEIGHTS.cards - 60);
  expect(heightOf("cards", row("a", { queue: "q" }))).toBe(ROW_HEIGHTS.cards - 40);
  expect(heightOf("medium", row("a"))).toBe(ROW_HEIGHTS.medium);
});

test("rows have one line where all of their columns fit", () => {
  expect([2_000, 1_700, 1_200, 400].map((width) => layoutOf(width, 1_650))).toEqual([
    "wide",
    "wide",
    "medium",
    "cards",
  ]);
});
