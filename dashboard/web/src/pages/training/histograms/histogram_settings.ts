// How histograms show, in the URL:
//
//   ?mode=overlay&run=eval&layers=hidden&height=count&hlog=1&hstep=300

import type { Height } from "./bars";

export const MODES = ["offset", "overlay", "bands"] as const;
export type Mode = (typeof MODES)[number];
export const HEIGHTS: readonly Height[] = ["density", "count"];

export interface HistogramSettings {
  mode: Mode;
  /** "": the first that there is. */
  run: string;
  /** A regular expression for tags. */
  layers: string;
  height: Height;
  log: boolean;
  /** Of the single histogram; undefined: the newest. */
  step: number | undefined;
}

export const PLAIN_HISTOGRAMS: HistogramSettings = {
  mode: "offset",
  run: "",
  layers: "",
  height: "density",
  log: false,
  step: undefined,
};

export function readHistogramSettings(search: URLSearchParams): HistogramSettings {
  const step = search.get("hstep") ?? "";
  return {
    mode: MODES.find((mode) => mode === search.get("mode")) ?? PLAIN_HISTOGRAMS.mode,
    run: search.get("run") ?? "",
    layers: search.get("layers") ?? "",
    height: HEIGHTS.find((one) => one === search.get("height")) ?? PLAIN_HISTOGRAMS.height,
    log: search.get("hlog") === "1",
    step: /^-?\d+$/.test(step) ? Number(step) : undefined,
  };
}

/** "" is what is as usual. */
export function histogramParameters(settings: HistogramSettings): Record<string, string> {
  const { mode, run, layers, height, log, step } = settings;
  return {
    mode: mode === PLAIN_HISTOGRAMS.mode ? "" : mode,
    run,
    layers,
    height: height === PLAIN_HISTOGRAMS.height ? "" : height,
    hlog: log ? "1" : "",
    hstep: step === undefined ? "" : String(step),
  };
}
