import { expect, test } from "vitest";
import { MODELS } from "../checks/trainer_findings";
import { fits } from "./fits";

const options = MODELS.map((value) => ({ value }));
const found = (typed: string): string[] => MODELS.filter((value) => fits(typed, value, options));

// Symptom: typing `lent` into the field of the model left the list as it was.
test("what is typed narrows the list, also with a letter missing", () => {
  expect(found("lent")).toEqual(["lenet"]);
  expect(found("GPT")).toEqual(MODELS.filter((value) => value.startsWith("gpt")));
  expect(found("no such model")).toEqual([]);
});

test("the list is whole before anything is typed, and where a proposal was chosen", () => {
  expect(found("")).toEqual([...MODELS]);
  expect(found("lenet")).toEqual([...MODELS]);
});
