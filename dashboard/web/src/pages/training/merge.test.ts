import { expect, test } from "vitest";
import type { SeriesAnswer } from "../../api/types";
import type { Point } from "./curves";
import { sinceOf } from "./merge";
import type { Reading } from "./read_on";
import { readOn, WHOLE_EVERY } from "./read_on";

/** A trainer that has these curves and answers as the server does. */
function trainer(all: SeriesAnswer) {
  const asked: (number | undefined)[] = [];
  const read = async (since: number | undefined): Promise<SeriesAnswer> => {
    asked.push(since);
    const after = (curves: Record<string, Point[]>) =>
      Object.fromEntries(
        Object.entries(curves).map(([tag, points]) => [
          tag,
          points.filter(([step]) => step > (since ?? -1)),
        ]),
      );
    return {
      ...all,
      series: after(all.series),
      ...(all.evaluator ? { evaluator: after(all.evaluator) } : {}),
    };
  };
  return { asked, read };
}

const points = (...steps: number[]): Point[] => steps.map((step) => [step, step + 0.5, 1 / step]);
const known: Reading = {
  answer: { source: "chief-0", series: { loss: points(10, 20, 30) } },
  reads: 1,
};

test("the next reading asks for what is new, and one point that is known", async () => {
  const { read, asked } = trainer({
    source: "chief-0",
    series: { loss: points(10, 20, 30, 40), accuracy: points(40) },
  });
  const { answer } = await readOn(read, known);
  expect(asked).toEqual([29]);
  expect(answer.series).toEqual({ loss: points(10, 20, 30, 40), accuracy: points(40) });
});

test("a training that went back to a checkpoint shortens the curve", async () => {
  const { read, asked } = trainer({ source: "chief-0", series: { loss: points(10) } });
  const { answer } = await readOn(read, known);
  expect(asked).toEqual([29, undefined]);
  expect(answer.series).toEqual({ loss: points(10) });
});

test("one that went back and has passed the place again is read whole", async () => {
  const again: Point[] = [[10, 10.5, 0.1], [20, 99, 0.2], [30, 100, 0.3], [40, 101, 0.4]];
  const { read } = trainer({ source: "chief-0", series: { loss: again } });
  expect((await readOn(read, known)).answer.series).toEqual({ loss: again });
});

test("an evaluator that is behind loses no point", async () => {
  const before: SeriesAnswer = { ...known.answer, evaluator: { loss: points(10) } };
  const { read, asked } = trainer({ ...before, evaluator: { loss: points(10, 20) } });
  const { answer } = await readOn(read, { answer: before, reads: 1 });
  expect(asked).toEqual([9]);
  expect(answer.evaluator).toEqual({ loss: points(10, 20) });
  expect(answer.series).toEqual(known.answer.series);
});

test("an evaluator that begins behind shows after some readings", async () => {
  const { read } = trainer({ ...known.answer, evaluator: { loss: points(10) } });
  let reading = known;
  for (let count = 0; count < WHOLE_EVERY; count += 1) reading = await readOn(read, reading);
  expect(reading.answer.evaluator).toEqual({ loss: points(10) });
});

test("curves stay while nobody answers, with the reason", async () => {
  const { answer } = await readOn(async () => ({ series: {}, message: "gone" }), known);
  expect(answer).toEqual({ series: known.answer.series, message: "gone" });
});

test("what was recorded takes the place of what was seen where it goes as far", async () => {
  const recorded = (...steps: number[]) => async (since: number | undefined) => ({
    archived: true,
    series: { loss: points(...steps).filter(([step]) => step > (since ?? -1)) },
  });
  const shorter = await readOn(recorded(10, 20), known);
  expect(shorter.answer).toEqual({ archived: true, series: known.answer.series });
  const longer = await readOn(recorded(10, 20, 40), known);
  expect(longer.answer).toEqual({ archived: true, series: { loss: points(10, 20, 40) } });
});

test("what comes after a silence is read whole", async () => {
  const silent: Reading = { answer: { series: known.answer.series, message: "gone" }, reads: 2 };
  const { read } = trainer({ source: "worker-0", series: { loss: points(5) } });
  expect((await readOn(read, silent)).answer).toEqual({
    source: "worker-0",
    series: { loss: points(5) },
  });
});

test("a job without curves, or from the archive, is read whole", () => {
  expect(sinceOf(undefined)).toBeUndefined();
  expect(sinceOf({ source: "chief-0", series: { loss: [] } })).toBeUndefined();
  expect(sinceOf({ ...known.answer, archived: true })).toBeUndefined();
});
