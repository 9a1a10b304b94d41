import { plural } from "../plural";

export const training = {
  titleOf: (name: string) => `Training of ${name}`,
  unreadable: "The curves cannot be read",
  unreadableOf: (job: string) => `The curves of ${job} cannot be read`,
  noneOf: (job: string) => `${job} has no curves.`,
  silent: "No trainer answers now",
  overSilent: "The job has ended",
  archived: "The job has ended. These are the curves that were recorded.",
  gone: "This job exists no longer. These are the last curves that were seen.",
  recorded: "recorded",
  lookInHistory: "Look in the history",
  noneTitle: "No curves yet",
  noneText:
    "The trainer takes a point every summaries.everySteps steps, also without summaries.dir. " +
    "The first one shows here by itself.",
  noneOwn: "An image of your own shows here when it answers GET /series: see docs/contract.md.",
  noMatch: "No curve has such a name.",

  settings: "Settings of the charts",
  smoothing: "Smoothing",
  axis: "Horizontal axis",
  axes: { step: "Step", relative: "Relative time", wall: "Wall time" },
  log: "Log scale",
  outliers: "Ignore outliers",
  filter: "Filter curves (regex)",
  badFilter: "This is no regular expression; all curves show.",
  resetZoom: "Reset zoom",

  compare: "Compare with other jobs",
  chosen: "Chosen",
  jobsHere: "Jobs",
  jobsGone: "Jobs that are gone",

  tags: {
    loss: "Loss",
    accuracy: "Accuracy",
    learning_rate: "Learning rate",
    examples_per_second: "Throughput (examples/s)",
    "global_step/sec": "Steps per second (steps/s)",
  } as Record<string, string>,
  train: "training",
  test: "test data",
  at: "at cursor",
  last: "last",
  min: "min",
  max: "max",
  toggle: "Show or hide this curve",
  gaps: (count: number) => `× ${plural(count, "value is", "values are")} no finite number`,
  gapsLog: (count: number) =>
    `× ${plural(count, "value", "values")} cannot stand on a log scale (0, negative, not finite)`,
  noNumber: "no number",
  chartOf: (name: string) => `Chart: ${name}`,
  keys: "Arrow keys move the cursor, + and - zoom, Escape resets the zoom",
  noCanvas: "This browser cannot draw charts here. Open the table instead.",
  asTable: "Show as table",
  asTableOf: (name: string) => `Show as table: ${name}`,
  tableOf: (name: string) => `Points of ${name}`,
  lastRows: (count: number) => `Only the last ${count} rows; the CSV file has all.`,
  csv: "Download as CSV",
  csvOf: (name: string) => `Download as CSV: ${name}`,
  embed: "Open this chart alone, to embed it in another page",
  embedOf: (name: string) => `Open alone: ${name}`,

  inNumbers: "In numbers",
  curve: "Curve",
  job: "Job",
  lastStep: "last step",

  histograms: "Histograms",
  histogramsText:
    "Histograms of weights and gradients are in the event files of summaries.dir: read them with " +
    "TensorBoard. See “Event files” in docs/contract.md.",
};
