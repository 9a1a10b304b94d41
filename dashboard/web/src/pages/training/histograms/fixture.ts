// Histograms for tests, and a canvas that notes what is drawn on it.

import { vi } from "vitest";
import type { Histogram } from "../../../api/events";
import { histogramOf } from "../../../api/events";
import type { HistogramTag, JsonNumber } from "../../../api/types";

export function histogram(
  step: number,
  edges: JsonNumber[],
  counts: JsonNumber[],
  more: Partial<Histogram> = {},
): Histogram {
  const made = { step, wall: 1000 + step, min: edges[0] ?? 0, max: edges.at(-1) ?? 0 };
  return { ...histogramOf({ ...made, edges, counts }), ...more };
}

export function tagOf(tag: string, more: Partial<HistogramTag> = {}): HistogramTag {
  return {
    run: ".",
    tag,
    displayName: "",
    description: "",
    count: 3,
    firstStep: 0,
    lastStep: 200,
    bins: 2,
    ...more,
  };
}

/** Of each canvas the names of what was called on it, in order. */
export function fakeCanvas(): { calls: string[] } {
  const calls: string[] = [];
  const context = new Proxy(
    {},
    {
      get: (_, name) => () => void calls.push(String(name)),
      set: () => true,
    },
  );
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(context as never);
  return { calls };
}
