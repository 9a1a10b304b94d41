// The drawer of one replica.

import { plural } from "../plural";

export const jobPod = {
  title: (name: string) => `Replica ${name}`,
  gone: "This replica is no longer part of the job.",
  noPod: "No pod of this replica exists now.",
  unreadable: "The details of its pod cannot be read",
  tabs: { overview: "Overview", env: "Environment", tfConfig: "TF_CONFIG" },
  logs: "Log of this replica",
  facts: {
    pod: "Pod",
    node: "Node",
    ip: "IP",
    number: "Pod number",
    attempt: "Attempt",
    restarts: "Restarts in place",
    created: "Created",
    started: "Started",
    finished: "Ended",
    devices: "GPUs",
    priority: "Priority class",
    account: "Service account",
    qos: "Quality of service",
    used: "CPU and memory used",
    gpuBusy: "GPUs busy",
    gpuMemory: "GPU memory used",
  },
  usedSince: (time: string, least: string, most: string) =>
    `since ${time}: ${least} to ${most}`,
  atMost: (amount: string) => `at most ${amount}`,
  notMeasured: {
    NotServed: "not measured: the cluster runs no metrics-server",
    Forbidden: "not shown: it takes the right to list pods.metrics.k8s.io",
    Unavailable: "not measured: the cluster's metrics do not answer",
    NotYet: "not measured yet",
  },
  numberOf: (count: number) => String(count),
  numberHint: "counts the pods that this replica has had",
  attemptHint: "counts the restarts of the whole job",
  devicesKnown: (count: number, ids: string) => `${plural(count, "GPU", "GPUs")}: ${ids}`,
  devicesUnknown: (count: number) =>
    `${plural(count, "GPU", "GPUs")}; the cluster does not say which`,
  notReady: "not ready",
  ready: "ready",

  container: (name: string) => `Container ${name}`,
  initContainer: (name: string) => `Init container ${name}`,
  image: "Image",
  copyImage: "Copy the image's name",
  resources: "Resources",
  resource: "Resource",
  request: "Request",
  limit: "Limit",
  noResources: "It asks for no resources and has no limits.",
  now: "Now",
  last: "Before",
  run: {
    waiting: "waiting",
    running: "running",
    terminated: "ended",
  },
  exitCode: (code: number) => `exit code ${code}`,
  exitReason: (reason: string) => ` (${reason})`,
  fullStop: ". ",
  lastWords: "Its last words:",
  from: (start: string, end: string) => `${start} to ${end}`,
  since: (start: string) => `since ${start}`,
  meaning: {
    done: "It has completed.",
    outOfMemory: "It was killed: it used more memory than its limit, or than the node had.",
    badNode:
      "The bundled trainer says by this that the node is bad. Of an own image it is an error of " +
      "the program.",
    restartMe:
      "The program asks to be started again: a port was taken, or it waited too long for others.",
    interrupted: "It was interrupted (SIGINT).",
    killed:
      "It was killed (SIGKILL): by the node, by hand, or since it did not stop within its grace.",
    stopped:
      "It was told to stop (SIGTERM): the pod was deleted, drained or preempted. A trainer " +
      "writes a checkpoint first.",
    abort: "The program aborted itself (SIGABRT): a failed check, or a fault in a library.",
    segfault: "The program read memory that is not its own (SIGSEGV).",
    signal: "A signal ended it.",
    notStarted: "The program could not be started; it has written no log.",
    failed: "The program failed; its last words say why.",
  },
  effect: {
    completed: "The replica is done and does not run again.",
    restarts: "Under restart policy ExitCode it gets a new pod.",
    fails: "Under restart policy ExitCode this fails the job.",
    badNode: "Under restart policy ExitCode it gets a new pod on another node.",
  },

  envName: "Name",
  envValue: "Value",
  envEmpty: "The container has no environment of its own.",
  envSearch: "Search in the environment",
  envNoMatch: "No variable is like that.",
  fromSecret: (name: string, key: string) => `Secret ${name}, key ${key}`,
  fromConfigMap: (name: string, key: string) => `ConfigMap ${name}, key ${key}`,
  fromField: (path: string) => `field ${path} of the pod`,
  fromResource: (name: string) => `resource ${name} of the container`,
  fromOther: (name: string) => `from ${name}`,
  allOfSecret: (name: string) => `all of Secret ${name}`,
  allOfConfigMap: (name: string) => `all of ConfigMap ${name}`,
  prefixed: (prefix: string) => `with ${prefix} before each name`,
  hidden: "Hidden: by its name it may be a secret.",
  show: (name: string) => `Show the value of ${name}`,
  hide: (name: string) => `Hide the value of ${name}`,

  tfNone:
    "The pod has no TF_CONFIG. A TFJob of one replica gets none: its program is alone.",
  tfUnreadable: "TF_CONFIG of this pod is no JSON that can be read here; it is shown as it is.",
  tfTask: (name: string) => `It was told that it is ${name}.`,
  tfWrongTask: (told: string, is: string) =>
    `It was told that it is ${told}, but it is ${is}.`,
  tfInMap: (map: string) =>
    `The job is large: the list of its replicas stands once, in the ConfigMap ${map}, and the ` +
    "pod's environment refers to it. The program sees it whole.",
  tfReadMap: "Read it with:",
  copyCommand: "Copy the command",
  tfSparse:
    "The job has enableDynamicWorker: each replica knows itself and the parameter servers only.",
  tfCluster: (count: number) => `Cluster: ${plural(count, "address", "addresses")}`,
  tfReplica: "Replica",
  tfAddress: "Address",
  tfThis: "this replica",
  tfCut: (count: number) => `${plural(count, "more address", "more addresses")} in the raw text`,
  tfRaw: "Raw",
  copyRaw: "Copy TF_CONFIG",

  compare: "Compare with the other replicas",
  comparing: (done: number, all: number) => `Compared ${done} of ${all}…`,
  compareAgain: "Compare again",
  compareNobody: "No other replica has a pod to compare with.",
  compareSame: (count: number) =>
    `${plural(count, "other replica", "other replicas")} got the same addresses of the cluster.`,
  compareSampled: (part: number, all: number) => `${part} of ${all} others were looked at.`,
  compareDiffer: (count: number) =>
    `${plural(count, "replica was", "replicas were")} told otherwise`,
  compareWhy:
    "Pods are never told anew while they run. A list that is longer or shorter comes from before " +
    "or after scaling; another address means that one of the two looks for it in the wrong place.",
  compareMoved: (name: string, here: string, there: string) =>
    `${name} is at ${here} here, at ${there} there`,
  compareOnlyHere: (names: string) => `only here: ${names}`,
  compareOnlyThere: (names: string) => `only there: ${names}`,
  compareOtherMap: (map: string) => `another list: ConfigMap ${map}`,
  compareUnread: (count: number) => `${plural(count, "pod", "pods")} could not be read`,
  andMore: (count: number) => `and ${count.toLocaleString("en")} more`,
};
