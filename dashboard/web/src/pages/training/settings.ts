// What the charts show, in the URL so that a link shows the same:
//
//   ?smooth=0.9&axis=relative&log=1&outliers=1&tags=loss&from=100&to=2000
//    &with=ml/tfjobs/b,ml/trainingjobs/c&history=uid
//
// and what histograms/histogram_settings.ts adds.

import type { JobRef } from "../../api/paths";
import { jobKey, kindOfPlural } from "../../api/paths";
import type { HistogramSettings } from "./histograms/histogram_settings";
import {
  histogramParameters,
  PLAIN_HISTOGRAMS,
  readHistogramSettings,
} from "./histograms/histogram_settings";
import { RUNS_MAX } from "./line_style";
import type { Span } from "./scale";
import type { Axis, Look } from "./transform";

export const AXES: readonly Axis[] = ["step", "relative", "wall"];
// As TensorBoard's: a weight of what lies one point back, where points lie evenly.
export const WEIGHT_DEFAULT = 0.6;
// With more the average needs thousands of points to move at all.
export const WEIGHT_MAX = 0.999;
// The job of the page is one of them.
export const COMPARED_MAX = RUNS_MAX - 1;

export interface Settings extends Look {
  /** Outliers do not stretch the scale. */
  outliers: boolean;
  /** A regular expression. */
  tags: string;
  /** undefined: all there is, and what comes. */
  zoom: Span | undefined;
  /** Other jobs, as keys: namespace/plural/name, or history:uid. */
  compared: string[];
  histograms: HistogramSettings;
}

export const PLAIN: Settings = {
  axis: "step",
  weight: WEIGHT_DEFAULT,
  log: false,
  outliers: false,
  tags: "",
  zoom: undefined,
  compared: [],
  histograms: PLAIN_HISTOGRAMS,
};

const HISTORY = "history:";

export function historyKey(uid: string): string {
  return `${HISTORY}${uid}`;
}

export type Compared = { job: JobRef } | { uid: string };

/** undefined: no such key. */
export function comparedOf(key: string): Compared | undefined {
  if (key.startsWith(HISTORY)) {
    const uid = key.slice(HISTORY.length);
    return uid === "" ? undefined : { uid };
  }
  const [namespace, plural, name, ...rest] = key.split("/").map(decoded);
  const kind = kindOfPlural(plural);
  if (!kind || !namespace || !name || rest.length > 0) return undefined;
  return { job: { kind, namespace, name } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function listOf(search: URLSearchParams, name: string): string[] {
  return search.getAll(name).flatMap((text) => text.split(","));
}

function readCompared(search: URLSearchParams): string[] {
  const keys = [...listOf(search, "with"), ...listOf(search, "history").map(historyKey)];
  const good = keys.flatMap((key) => {
    const compared = comparedOf(key);
    if (!compared) return [];
    return "uid" in compared ? key : jobKey(compared.job);
  });
  return [...new Set(good)].slice(0, COMPARED_MAX);
}

function numberOf(text: string | null): number | undefined {
  if (text === null || text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

export function readSettings(search: URLSearchParams): Settings {
  const weight = numberOf(search.get("smooth")) ?? WEIGHT_DEFAULT;
  const from = numberOf(search.get("from"));
  const to = numberOf(search.get("to"));
  return {
    axis: AXES.find((axis) => axis === search.get("axis")) ?? PLAIN.axis,
    weight: Math.min(WEIGHT_MAX, Math.max(0, weight)),
    log: search.get("log") === "1",
    outliers: search.get("outliers") === "1",
    tags: search.get("tags") ?? "",
    zoom: from !== undefined && to !== undefined && from < to ? [from, to] : undefined,
    compared: readCompared(search),
    histograms: readHistogramSettings(search),
  };
}

/** Other parameters stay as they are. */
export function writeSettings(settings: Settings, before: URLSearchParams): URLSearchParams {
  const after = new URLSearchParams(before);
  const put = (name: string, value: string): void => {
    if (value === "") after.delete(name);
    else after.set(name, value);
  };
  const isHistory = (key: string): boolean => key.startsWith(HISTORY);
  const { axis, weight, log, outliers, tags, zoom, compared } = settings;
  put("axis", axis === PLAIN.axis ? "" : axis);
  put("smooth", weight === WEIGHT_DEFAULT ? "" : String(weight));
  put("log", log ? "1" : "");
  put("outliers", outliers ? "1" : "");
  put("tags", tags);
  put("from", zoom ? digits(zoom[0]) : "");
  put("to", zoom ? digits(zoom[1]) : "");
  put("with", compared.filter((key) => !isHistory(key)).join(","));
  const uids = compared.filter(isHistory).map((key) => key.slice(HISTORY.length));
  put("history", uids.join(","));
  for (const [name, value] of Object.entries(histogramParameters(settings.histograms))) {
    put(name, value);
  }
  return after;
}

// A pixel of a long training is more than this.
function digits(value: number): string {
  return String(Number(value.toFixed(3)));
}
