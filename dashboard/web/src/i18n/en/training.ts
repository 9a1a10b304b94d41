import { plural } from "../plural";

export const training = {
  titleOf: (name: string) => `Training of ${name}`,
  unreadable: "The curves cannot be read",
  unreadableOf: (job: string) => `The curves of ${job} cannot be read`,
  noneOf: (job: string) => `${job} has no curves.`,
  silent: "No trainer answers now",
  overSilent: "The job has ended",
  archived: (over: boolean) =>
    `${over ? "The job has ended" : "No trainer answers now"}. ` +
    "These are the curves that were recorded.",
  gone: "This job exists no longer. These are the last curves that were seen.",
  recorded: "recorded",
  lookInHistory: "Look in the history",
  noneTitle: (over: boolean): string => (over ? "This job left no curves" : "No curves yet"),
  noneText:
    "The trainer takes a point every summaries.everySteps steps, also without summaries.dir.",
  noneNext: "The first one shows here by itself.",
  noneOwn: "An image of your own shows here when it answers GET /series: see docs/contract.md.",
  noneTfJob: "A TFJob's program shows here when it answers GET /series: see docs/contract.md.",
  noMatch: "No curve has such a name.",

  settings: "Settings of the charts",
  smoothing: "Smoothing",
  notSmoothed: (points: number) =>
    `Not smoothed: a curve of fewer than ${points} points is shown as it is.`,
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
    perplexity: "Perplexity",
    learning_rate: "Learning rate",
    examples_per_second: "Throughput (examples/s)",
    "global_step/sec": "Steps per second (steps/s)",
  } as Record<string, string>,
  tagsOfTest: { loss: "Test loss", accuracy: "Test accuracy", perplexity: "Test perplexity" },
  tagsOfTraining: { loss: "Training loss", accuracy: "Training-batch accuracy" },
  train: "training batches",
  test: "test data",
  at: "at cursor",
  last: "last",
  min: "min",
  max: "max",
  toggle: "Show or hide this curve",
  gaps: (count: number) => `× ${plural(count, "value is", "values are")} no finite number`,
  gapsLog: (count: number) =>
    `× ${plural(count, "value", "values")} cannot stand on a log scale (0, negative, not finite)`,
  endsEarly: (step: string, of: string) =>
    `Values up to step ${step} of ${of}: the trainer was not asked later. ` +
    "With summaries.dir in the manifest all are kept.",
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

  differences: "Differences of the manifests",
  field: "Field",
  noDifferences: "The manifests are the same but for their names.",
  specUnknown: (job: string) => `The manifest of ${job} cannot be read.`,
  moreDifferences: (count: number) => `and ${plural(count, "more field", "more fields")}`,

  histograms: "Histograms",
  hist: {
    text: "How weights and gradients are spread, and how that changes.",
    settings: "Settings of the histograms",
    mode: "View",
    modes: { offset: "Offset", overlay: "Overlay", bands: "Distribution" },
    run: "Run",
    runs: {
      ".": "training",
      eval: "evaluator",
      checkpoints: "checkpoints",
    } as Record<string, string>,
    height: "Height",
    heights: { density: "Density", count: "Count" },
    heightWhy: {
      density: "Height: share of all values per unit of the axis, so that areas compare",
      count: "Height: count of each bin; bins have different widths",
    },
    log: "Log height",
    filter: "Filter tags (regex)",
    badFilter: "This is no regular expression; all tags show.",
    noMatch: "No tag has such a name.",
    zoomed: "Only what the zoom of the curves leaves in view.",
    otherTags: "Without a layer",
    showMore: (count: number) => `Show ${plural(count, "more tag", "more tags")}`,

    unreadable: "The histograms cannot be read",
    stale: (time: string) => `This was read at ${time} and cannot be read again now.`,
    noneTitle: (over: boolean): string =>
      over ? "This job left no histograms" : "No histograms yet",
    noneNext: "The first ones show here by themselves.",
    noneText:
      "Set spec.trainer.summaries.dir, and the trainer writes histograms of weights and " +
      "gradients every summaries.everySteps steps (unless summaries.histograms=false). With " +
      "spec.trainer.checkpoint.dir beside it, the weights of each checkpoint show here, too; " +
      "without summaries.dir they do not.",
    noneOwn: "An image of your own may write TensorBoard's event files there.",
    noneTfJob:
      "A TFJob's program shows here when it serves its event files at GET /events: see " +
      "docs/contract.md.",
    said: "The server says:",
    noNews: "What shows may not be the newest",
    reading: (percent: string) => `Reading the event files: ${percent}`,
    problems: (count: number) =>
      plural(count, "problem in the event files", "problems in the event files"),
    problemAt: (where: string, byte: string) => `${where}, byte ${byte}`,
    directory: "the directory",
    moreProblems: (count: number) => `and ${count} more`,

    step: "Step",
    stepOf: (tag: string) => `Step of ${tag}`,
    newest: "newest",
    shownOf: (part: number, whole: number) =>
      `${part} of ${whole} histograms; zoom into a curve to see others.`,
    values: (count: string) => `${count} values`,
    bins: (count: number) => plural(count, "bin", "bins"),
    fromTo: (from: string, to: string) => `${from} to ${to}`,
    constant: (count: string, value: string) => `All ${count} values are ${value}`,
    nothingCounted: "No values were counted.",
    notDrawn: (count: number) =>
      `${plural(count, "bin has", "bins have")} no finite edges and cannot be drawn.`,
    nothingToDraw: "Nothing here can be drawn: there are no finite numbers.",
    cut: (count: number) =>
      `▲ ${plural(count, "histogram has", "histograms have")} a peak that is too narrow for ` +
      "this axis: it is cut off.",
    wider: (count: number) =>
      `◂▸ ${plural(count, "histogram is", "histograms are")} much wider than the others: what is ` +
      "beyond this axis does not show.",
    binAt: (from: string, to: string, count: string, percent: string) =>
      `${from} … ${to}: ${count} (${percent})`,
    median: "median",
    bandPoint: (percent: string, value: string) => `${percent}: ${value}`,
    bandLegend: "Lines: least, 6.68, 15.87, 30.85, 50, 69.15, 84.13, 93.32 %, largest",
    chartOf: (mode: string, tag: string, text: string) => `${mode} of ${tag}: ${text}`,
    chartText: (count: number, from: string, to: string) =>
      `${plural(count, "histogram", "histograms")}, step ${from} to ${to}`,
    barsOf: (tag: string, step: string, text: string) =>
      `Histogram of ${tag} at step ${step}: ${text}`,
    tableOf: (tag: string, step: string) => `Bins of ${tag} at step ${step}`,
    bandsTableOf: (tag: string) => `Distribution of ${tag} over steps`,
    from: "from",
    to: "to",
    count: "count",
    share: "share",
    firstRows: (count: number) => `Only the first ${count} rows; the CSV file has all.`,
    noTag: (tag: string) => `This job has no histograms of ${tag} yet.`,
  },
};
