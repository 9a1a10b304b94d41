// The page that makes jobs. Words of the API (fields, values, kinds) stay as manifests have them.

import { plural } from "../plural";
import { submitForm } from "./submit_form";

type Values = readonly unknown[];

export const submit = {
  title: "Submit a job",
  clonedFrom: (name: string) => `A copy of ${name}`,
  fromTemplate: (name: string) => `From the template “${name}”`,
  fromFile: (name: string) => `From the file ${name}`,
  restored: "This is the draft that you left here.",
  startAnew: "Start anew",
  badClone: (what: string) => `“${what}” names no job to clone: NAMESPACE/PLURAL/NAME is expected.`,
  noManifest: "The history has no manifest of this job, so that there is nothing to clone.",
  cloneFailed: "The job that is to be cloned could not be read",
  reading: "Reading the job that is to be cloned…",

  send: "Submit",
  sending: "Submitting…",
  sent: (name: string) => `Job ${name} was submitted.`,
  templates: "Templates",
  openFile: "Open a file",
  form: "Form",
  yaml: "YAML",
  yamlLabel: "Manifest in YAML",
  yamlKeys: "Escape, then Tab leaves the editor; Ctrl+Space completes.",
  downloadName: "Download the manifest",
  copyYaml: "Copy the manifest",
  editorFailed: "The editor could not be loaded; this plain one does the same.",
  simple: "Simple",
  advanced: "Advanced",

  status: {
    unreadable: "The YAML cannot be read",
    checking: "The server is being asked…",
    accepted: "The server would accept this job",
    acceptedWarnings: (count: number) =>
      `The server would accept this job, with ${plural(count, "warning", "warnings")}`,
    refused: "The server would refuse this job",
    wrong: "This job cannot be submitted as it is",
    problems: (count: number) => plural(count, "problem", "problems"),
    unasked: "The server has not been asked",
    unanswered: "The server does not answer; it will be asked again",
    checkAgain: "Check again",
    at: (time: string) => `at ${time}`,
  },
  blocked: {
    readOnly: "This dashboard is read-only.",
    unreadable: "The YAML cannot be read.",
    problems: (count: number) => `Correct ${plural(count, "problem", "problems")} first.`,
    forbidden: "You may not make jobs in this namespace.",
  },
  problems: {
    title: (errors: number, warnings: number) =>
      [
        errors > 0 ? plural(errors, "problem", "problems") : "",
        warnings > 0 ? plural(warnings, "warning", "warnings") : "",
      ]
        .filter((part) => part !== "")
        .join(", "),
    line: (line: number) => `line ${line}`,
    more: (count: number) => `Show ${count} more`,
    error: "Problem",
    warning: "Warning",
    serverWarning: "Warning of the server",
    wholeTitle: "The server refused the job",
  },
  issue: {
    unknownField: (name: string) => `There is no field “${name}” here.`,
    required: "A value is needed.",
    type: (wanted: string) => `Must be of type ${wanted}.`,
    oneOf: (values: Values) =>
      `Must be one of: ${values.map((one) => JSON.stringify(one)).join(", ")}.`,
    atLeast: (bound: number) => `Must be at least ${bound}.`,
    above: (bound: number) => `Must be more than ${bound}.`,
    atMost: (bound: number) => `Must be at most ${bound}.`,
    below: (bound: number) => `Must be less than ${bound}.`,
    shorter: (bound: number) => `Must have at least ${plural(bound, "character", "characters")}.`,
    longer: (bound: number) => `Must have at most ${plural(bound, "character", "characters")}.`,
    fewer: (bound: number) => `Must have at least ${plural(bound, "entry", "entries")}.`,
    more: (bound: number) => `Must have at most ${plural(bound, "entry", "entries")}.`,
    pattern: (pattern: string) => `Must match ${pattern}`,
    name: "Must begin with a letter and have only a–z, 0–9 and “-”, with no “-” at its end.",
    time: "Must be a time such as 2026-03-01T12:00:00Z.",
    twice: "Stands here twice.",
    longName: (max: number) =>
      `Must have at most ${max} characters: with role and number it names the pods, ` +
      "which have at most 63.",
    namespace: "Must have only a–z, 0–9 and “-”, and begin and end with a letter or digit.",
    forbidden: (user: string, kind: string, namespace: string) =>
      `${user} may not create a ${kind} in namespace ${namespace}.`,
    noKind: "This cluster does not have this kind of job.",
    taken: (name: string, namespace: string) =>
      `A job called ${name} exists in namespace ${namespace}.`,
    refusedEdit: "The form cannot change this part of the YAML; change it there.",
    unknownModel: (name: string) =>
      `The bundled trainer does not know the model “${name}”: it has ` +
      "linear, softmax, mlp, lenet, resnet20, resnet50, lstm, gpt2, wideDeep and layers.",
    unknownOptimizer: (name: string) =>
      `The bundled trainer does not know the optimizer “${name}”: it has sgd, momentum, adam, ` +
      "adamw, adagrad, rmsprop and ftrl.",
    startsAtZero: "adagrad divides by its sum, which must start above 0.",
    mustGrow: "Each boundary must be above the one before.",
    needsLayers: (name: string) => `${name} needs the size of at least one hidden layer.`,
    needsColumns: "wideDeep learns from feature columns: data.columns.",
    noColumn: (name: string) => `There is no column “${name}” in data.columns.`,
    noFeature: (name: string) => `There is no feature “${name}” in data.tfrecord.features.`,
    hasCategories: (type: string, name: string) =>
      `A column of type ${type} has categories, which wideDeep takes and ${name} does not.`,
    ofAnother: (owner: string, name: string) => `Belongs to ${owner}, not to ${name}.`,
  },
  /** Of the reader of YAML, by its codes. */
  yamlError: {
    ALIAS_PROPS: "An alias has neither tag nor anchor.",
    BAD_ALIAS: "An alias (*name) needs an anchor (&name) before it.",
    BAD_COLLECTION_TYPE: "The tag does not fit what follows.",
    BAD_DIRECTIVE: "There is no such directive.",
    BAD_DQ_ESCAPE: "There is no such escape in a text in double quotes.",
    BAD_INDENT: "The indentation does not fit.",
    BAD_PROP_ORDER: "Anchors and tags come behind the indicators “?”, “:” and “-”.",
    BAD_SCALAR_START: "A text cannot begin with this character; put it in quotes.",
    BLOCK_AS_IMPLICIT_KEY: "A list or mapping in lines cannot stand on the line of a key.",
    BLOCK_IN_FLOW: "A list or mapping in lines cannot stand in brackets.",
    DUPLICATE_KEY: "This key stands here twice.",
    IMPOSSIBLE: "This cannot be read.",
    KEY_OVER_1024_CHARS: "The key is too long.",
    MISSING_CHAR: "A character is missing, such as “:”, a quote or a bracket.",
    MULTILINE_IMPLICIT_KEY: "A key stands on one line.",
    MULTIPLE_ANCHORS: "A value has one anchor.",
    MULTIPLE_DOCS: "Only one document is expected.",
    MULTIPLE_TAGS: "A value has one tag.",
    NON_STRING_KEY: "A key is a text.",
    RESOURCE_EXHAUSTION: "This repeats too much.",
    TAB_AS_INDENT: "Indentation is made of spaces, not of tabs.",
    TAG_RESOLVE_FAILED: "The value does not fit its tag, or cannot stand in JSON.",
    UNEXPECTED_TOKEN: "This was not expected here.",
    TooLarge: "The manifest is too large for the form. The server still checks it.",
    SeveralDocuments: "There is a second document here: submit one job at a time.",
    Unreadable: "Aliases repeat too much, or it is nested too deep.",
  },
  stale: "The YAML cannot be read, so the form shows what it said before.",
  otherKind: "This is neither a TrainingJob nor a TFJob. Correct “kind” in the YAML.",
  tooLargeForForm: "The manifest is too large for the form; change it in the YAML.",

  ...submitForm,

  picker: {
    title: "Start from a template",
    current: "in use",
    drop: "Drop a manifest here",
    hint: "Or drop a manifest on this page.",
    replaceTitle: "Replace what you have written?",
    replaceText: "The manifest has changes that you have not submitted.",
    replace: "Replace",
    tooLarge: (name: string) => `${name} is larger than 3 MiB; a server takes no such manifest.`,
    notText: (name: string) => `${name} is not a text in UTF-8.`,
    severalFiles: "Several files were dropped; the first one was taken.",
  },
  template: {
    mnist: {
      title: "MNIST, distributed",
      text:
        "The main example: a chief, two parameter servers, two workers; checkpoints and an " +
        "evaluation at the end.",
    },
    quick: {
      title: "A first try",
      text: "Generated data: needs no files and ends within seconds, on any cluster.",
    },
    "mnist-local": {
      title: "MNIST in one process",
      text: "The same training without distribution: the measure of all others.",
    },
    softmax: {
      title: "Softmax regression",
      text: "The smallest model for images, on MNIST.",
    },
    lenet: {
      title: "LeNet",
      text: "Two convolutions and two dense layers, on MNIST.",
    },
    resnet20: {
      title: "ResNet-20",
      text: "Small pictures in colour (CIFAR-10), cut and mirrored at random.",
    },
    lstm: {
      title: "LSTM",
      text: "Reads an image of MNIST row by row, as a sequence.",
    },
    gpt2: {
      title: "GPT-2, small",
      text: "Learns to write, letter by letter, from a text.",
    },
    "wide-deep": {
      title: "Wide & Deep",
      text: "Clicks on advertisements: crossed columns and embeddings.",
    },
    csv: {
      title: "A table (CSV)",
      text: "Dense layers on columns of numbers.",
    },
    tfrecord: {
      title: "TFRecord files",
      text: "Dense layers on records of tf.train.Example.",
    },
    layers: {
      title: "A chain of layers",
      text: "A network of your own, layer by layer, on CIFAR-10.",
    },
    async: {
      title: "Asynchronous",
      text: "One parameter server, two workers; each gradient is applied when it arrives.",
    },
    "bounded-staleness": {
      title: "Asynchronous with a bound",
      text: "Gradients are applied as they arrive, but none that is more than two updates old.",
    },
    sync: {
      title: "Synchronous",
      text: "Each step is the mean of the gradients of all replicas; Adam.",
    },
    "sync-backup": {
      title: "Synchronous with a backup",
      text: "Three of four gradients make a step, so that a slow replica holds nobody up.",
    },
    "all-reduce": {
      title: "All-reduce",
      text: "Three replicas hold the model each and average their gradients: no parameter servers.",
    },
    "all-reduce-elastic": {
      title: "All-reduce, elastic",
      text: "One to four workers beside a chief: more and fewer by kubectl scale, while it trains.",
    },
    towers: {
      title: "Towers",
      text: "Four towers in one process, with decay of the learning rate and moving averages.",
    },
    evaluator: {
      title: "With an evaluator",
      text: "An evaluator measures each checkpoint; curves and histograms for TensorBoard.",
    },
    "own-workers": {
      title: "My own image",
      text: "A program of your own in workers, and nothing else: one, or as many as you like.",
    },
    "own-image": {
      title: "My own image, with a parameter server",
      text: "A program of your own in every role, told by TF_CONFIG who it is.",
    },
    "own-image-gpu": {
      title: "My own image, on GPUs",
      text: "TensorFlow with a chief and workers on GPUs, without parameter servers.",
    },
    tfjob: {
      title: "TFJob with the bundled trainer",
      text: "Chief, parameter server and workers as a TFJob; one variable configures the trainer.",
    },
    "tfjob-own": {
      title: "TFJob with my own image",
      text: "As training-operator's users know it: containers that are called tensorflow.",
    },
  } as Record<string, { title: string; text: string }>,
  leave: {
    title: "Leave this job unsubmitted?",
    text: "The draft can stay in this tab until you come back, or be thrown away.",
    stay: "Stay here",
    keep: "Leave and keep the draft",
    discard: "Leave and throw it away",
  },
  /** Of CodeMirror, which has English inside. */
  editorPhrases: {} as Record<string, string>,
};
