import type { HealthReason, JobState } from "../../api/types";
import { plural } from "../plural";
import { jobPod } from "./job_pod";
import { jobTrained } from "./job_trained";

export const job = {
  loading: "What is known about this job is on its way…",
  unreadable: "This job cannot be read",
  noneTitle: "There is no such job here",
  neverFits: (wanted: number, most: number) =>
    `One replica asks for ${plural(wanted, "GPU", "GPUs")}, and no node has more than ${most}: ` +
    "it can never run so. Ask for fewer for each replica.",
  noneText: (kind: string, name: string, namespace: string) =>
    `There is no ${kind} ${name} in the namespace ${namespace}, or you may not see it.`,
  lookInHistory: "Look in the history",
  goneTitle: "This job has been deleted",
  goneText: "It went while you looked at it, or you may no longer see it. Below is its last state.",
  youDeleted: "You deleted this job.",
  lastState: "Below is its last state.",
  openHistory: "Open its history",
  stateNow: (name: string, state: string) => `Job ${name}: ${state}`,

  tabs: "Pages of this job",
  overview: "Overview",
  logs: "Logs",
  training: "Training",
  yaml: "YAML",

  headline: {
    Pending: "The job waits to start.",
    Running: "All is well: the job runs.",
    Restarting: "The job is starting again.",
    Suspended: "The job is suspended and has no pods; Resume starts it again.",
    Succeeded: "The job has succeeded.",
    Failed: "The job has failed.",
  } satisfies Record<JobState, string>,
  /** A heading before more sentences. */
  headed: (what: string) => `${what}.`,
  headlineDeleting: "The job is being deleted: its pods are ending.",
  worst: (name: string, why: string) => `${name}: ${why}`,
  before: "What it wrote before that:",
  asAbove: "as said at the top of this page",
  advice: {
    Failed: "Read the last lines of the failed replica, correct the cause, then clone the job.",
    CrashLoop: "Read its log: the lines before the end say why. The exit code is in its details.",
    ImagePull: "Check the image's name and tag, the way to its registry, and the pull secret.",
    OutOfMemory: "Raise the memory limit of this role, or make the batch smaller.",
    Unschedulable: "Look which GPUs are free and what waits before it; or ask for less.",
    PodFailed: "Read its last lines and its exit code.",
    NodeLost: "The replica gets a new pod elsewhere by itself; the node is the administrator's.",
    NodeSilent: "If the node does not answer soon, the replica gets a new pod elsewhere by itself.",
    Restarting: "Nothing: it goes on from its last checkpoint. The time line says what restarted.",
    RestartedLately: "Look in the time line whether it happens again and again.",
    PendingLong: "Look at the details of the replica that waits, and at the queue.",
    NoProgress: "Its step has not changed for minutes: read the log of the chief.",
    ConfigError: "Check that the Secrets, ConfigMaps and volumes that it names exist.",
    TerminatingLong: "A volume or a node may hold it; the administrator can look at the node.",
    LossRises:
      "It learns no more, and goes on until you stop it. A lower learning rate or clipped " +
      "gradients usually help: suspend it, and clone it with those.",
  } satisfies Record<HealthReason, string>,
  adviceNotStarted:
    "Its program could not be started, so that there is no log. Check the command and the image.",
  atStep: (said: string, step: number) => `${said} (at step ${step.toLocaleString("en")})`,
  lookAt: (name: string) => `Details of ${name}`,
  logsOf: (name: string) => `Log of ${name}`,
  suspendTitle: (name: string) => `Suspend ${name}?`,
  suspendLoses:
    "It keeps no checkpoints: when it is resumed, it begins again at step 0. The logs of its " +
    "pods go with them.",
  seeCurves: "Its curves",
  seeGpus: "Free GPUs",
  seeQueues: "Queues",

  facts: {
    progress: "Progress",
    replicas: "Replicas ready",
    age: "Age",
    ran: "Ran for",
    sinceStart: "Since its start",
    waiting: "Waiting for",
    gpus: "GPUs held",
    gpusOf: (held: string, asked: string) => `${held} of ${asked} asked for`,
    cpu: "CPU used",
    cores: (count: string) => `${count} cores`,
    memory: "Memory used",
    restarts: "Restarts",
    attempt: (n: number) => `attempt ${n}`,
    owner: "Owner",
    queue: "Queue",
    rate: "Examples/s",
    loss: "Loss",
    accuracy: "Test accuracy",
    perplexity: "Test perplexity",
    left: (time: string) => `about ${time} left`,
    goesIn: (time: string) => `deleted by itself after ${time}`,
    ttl: "After its end",
  },

  actions: "What you can do with this job",
  suspend: "Suspend",
  resume: "Resume",
  scale: "Scale workers",
  remove: "Delete",
  clone: "Clone",
  pending: {
    suspend: "Suspending…",
    resume: "Resuming…",
    scale: "Scaling…",
    delete: "Deleting…",
  },
  failed: {
    suspend: "The job was not suspended",
    resume: "The job was not resumed",
    scale: "The workers were not scaled",
    delete: "The job was not deleted",
  },
  accepted: {
    suspend: "The cluster has taken it: the pods end, trainers write a checkpoint first.",
    resume: "The cluster has taken it: the pods are made again.",
    scale: "The cluster has taken the new number of workers.",
    delete: "The cluster has taken it: the job and its pods go.",
  },
  why: {
    gone: "The job no longer exists.",
    noUpdate: (kind: string, namespace: string) =>
      `You may not change a ${kind} in ${namespace}: it takes the right to patch it.`,
    noDelete: (kind: string, namespace: string) =>
      `You may not delete a ${kind} in ${namespace}.`,
    noCreate: (kind: string, namespace: string) =>
      `You may not create a ${kind} in ${namespace}.`,
    deleting: "The job is being deleted.",
    ended: "The job has ended.",
    noWorkers: "This job has no workers.",
    pending: "Another change is on its way.",
  },
  scaleTitle: (name: string) => `Scale the workers of ${name}`,
  scaleLabel: "Number of workers",
  scaleNow: (count: number) => `Now: ${count.toLocaleString("en")}`,
  scaleMore: (count: number, gpus: number) =>
    `${plural(count, "pod is", "pods are")} added` +
    (gpus > 0 ? `, which ask for ${plural(gpus, "GPU", "GPUs")} in all.` : "."),
  scaleLess: (first: string, last: string) =>
    first === last ? `The pod of ${first} ends.` : `The pods of ${first} to ${last} end.`,
  scaleProblem: {
    number: "Give a whole number.",
    range: (least: number, most: number) =>
      `Give a number from ${least} to ${most.toLocaleString("en")}.`,
    same: "That is how many there are.",
  },
  deleteTitle: (name: string) => `Delete the job ${name}?`,
  deletePods: (pods: number, gpus: number) =>
    pods === 0
      ? "No pod of it runs any more."
      : `${plural(pods, "pod ends", "pods end")}` +
        (gpus > 0 ? ` and ${plural(gpus, "GPU is", "GPUs are")} free again` : "") +
        ". Trainers are told to stop first and write a checkpoint.",
  deleteFiles: "Checkpoints and all that was written to volumes stay where they are.",
  deleteHistory: (days: number) =>
    `Its state, events and last log lines stay in the history for ${plural(days, "day", "days")}.`,
  deleteNoHistory: "This dashboard keeps no history: its state, events and logs are lost.",
  deleteTtl: (time: string) => `It would go by itself ${time} after its end.`,
  deleteFinal: "This cannot be undone.",

  replicas: "Replicas",
  noReplicas: "The job has no replicas yet.",
  podsHidden: (namespace: string) =>
    `You may not list pods in ${namespace}, so the replicas cannot be shown one by one. ` +
    "The right to list pods there shows them.",
  view: "Show replicas as",
  asGrid: "Grid",
  asTable: "Table",
  legend: "Show only",
  legendOf: (what: string, count: number) => `${what}: ${count.toLocaleString("en")}`,
  gridLabel: (count: number) => `Replicas: ${count.toLocaleString("en")}, by role`,
  gridKeys: "Arrow keys move, Enter opens the details.",
  noneMarked: "No replica is like that now.",
  columns: {
    replica: "Replica",
    state: "State",
    health: "Health",
    pod: "Pod",
    node: "Node",
    ip: "IP",
    restarts: "Restarts",
    podNumber: "Pod no.",
    attempt: "Attempt",
    exitCode: "Exit code",
    gpus: "GPUs",
    age: "Age",
    why: "Why",
  },
  noNode: "no node yet",
  message: "How the job is",

  timeline: "Time line",
  timelineEmpty: "Nothing has been recorded yet. Clusters forget events after an hour or so.",
  timelineNone: "Nothing of that kind.",
  kinds: {
    condition: "Conditions",
    warning: "Warnings",
    event: "Events",
    restart: "Restarts",
  },
  kind: {
    condition: "Condition",
    warning: "Warning",
    event: "Event",
    restart: "Restart",
  },
  filterKinds: "Kinds",
  filterAbout: "About",
  aboutAll: "All replicas and the job",
  aboutJob: "The job",
  times: (count: number) => `${count.toLocaleString("en")} times`,
  since: (time: string) => `since ${time}`,
  condition: {
    Created: "Created",
    Scheduled: "Scheduled",
    Running: "Running",
    Restarting: "Restarting",
    Suspended: "Suspended",
    Succeeded: "Succeeded",
    Failed: "Failed",
  },
  notSo: "is false",
  attemptBegins: (attempt: number) => `Attempt ${attempt}`,
  restartOf: (pod: number, attempt: number) => `pod ${pod} of attempt ${attempt}`,
  onNode: (node: string) => `on ${node}`,
  more: (count: number) => `Show ${count.toLocaleString("en")} more`,
  causes: "Restarts by cause",
  cause: {
    userError: "Error of the program",
    outOfMemory: "Out of memory",
    killed: "Killed",
    preempted: "Preempted or drained",
    nodeLost: "Node lost",
    badNode: "Bad node",
  },

  manifest: "Manifest",
  manifestStatus: "Status",
  manifestPart: "Part of the object",
  manifestUnreadable: "The object cannot be read",
  manifestAsOf: (time: string) => `as of ${time}`,
  refresh: "Read it again",
  noStatus: "The object has no status yet.",
  showKept: "Also what programs keep",
  keptWhat: "taas.dev/ledger, last-applied-configuration and managedFields",
  copyYaml: "Copy the YAML",
  lines: (count: number) => plural(count, "line", "lines"),

  pod: jobPod,
  trained: jobTrained,
};
