// What the dashboard's server answers: the contract between dashboard/server and dashboard/web.
//
// All paths are relative to the page's base URI, so that the page works under any sub-path. Every
// answer that is no 2xx is a `Problem`. Texts in `message` fields come from the cluster and are
// shown as they are; everything else that a person reads is translated here in the browser.

/** Body of every answer that is no 2xx. */
export interface Problem {
  error: {
    /** Of the table of reasons below; for the program. */
    reason: ProblemReason;
    /** One English sentence: what was attempted, the cause, what to do. */
    message: string;
    /** Where the API server refused fields of a manifest: the path as it names it. */
    causes?: { field: string; message: string }[];
  };
}
export type ProblemReason =
  | "Unauthenticated" // No token, or one that is no longer good: log in again.
  | "Forbidden" // The cluster does not let this user.
  | "ReadOnly" // The dashboard runs with --read-only.
  | "BadRequest"
  | "NotFound"
  | "Conflict" // The object has changed or exists.
  | "Invalid" // The API server refused the object: see `causes`.
  | "TooLarge"
  | "TooManyRequests"
  | "Unavailable" // The API server or the trainer does not answer.
  | "Internal";

/** GET api/session, POST api/session ({token} or {code}); DELETE api/session ends it (204). */
export interface Session {
  user: string;
  groups: string[];
  /** Of a login: this page's half of the session, for the header X-TaaS-Session. */
  half?: string;
  readOnly: boolean;
  /** The cluster of `taas local`, on this machine. */
  local: boolean;
  version: string;
  /** The container resource that GPUs are, such as nvidia.com/gpu. */
  gpuResource: string;
  /** Kinds that this cluster has. */
  kinds: JobKind[];
  /** With jobs that this user may see. */
  namespaces: string[];
  /** Jobs that are gone are kept so long; 0: there is no history. */
  historyDays: number;
}

/** GET api/login, without a token: how to come by one. */
export interface LoginHelp {
  /** A cluster of `taas local`. */
  local: boolean;
  /** Of such a one: the command that prints a link. */
  link?: string;
  /** The service account of the dashboard itself, which sees all jobs. */
  account?: { namespace: string; name: string };
}

export type JobKind = "TrainingJob" | "TFJob";
export type Role = "chief" | "master" | "ps" | "worker" | "evaluator";
export type JobState =
  | "Pending"
  | "Running"
  | "Restarting"
  | "Suspended"
  | "Succeeded"
  | "Failed";
/** From the job's pods, before its phase: a job can be Running and critical. */
export type Health = "ok" | "warning" | "critical";

/** Times are ISO 8601 in UTC, with seconds or finer. */
export type Time = string;

export interface RoleCount {
  role: Role;
  desired: number;
  ready: number;
  succeeded: number;
  failed: number;
  /** Between which `desired` may change while the job trains. */
  elastic?: { minReplicas: number; maxReplicas: number };
}

export interface Progress {
  step: number;
  /** 0: unknown. */
  maxSteps: number;
  percent: number;
  examplesPerSecond: number;
  loss?: number;
  etaSeconds?: number;
  accuracy?: number;
  /** Of a model of texts: e to the loss of the test data. */
  perplexity?: number;
}

/** One line of the table of jobs. Rows of a stream carry no more than these. */
export interface JobRow {
  uid: string;
  kind: JobKind;
  namespace: string;
  name: string;
  state: JobState;
  /** What the job is doing beyond its state. */
  deleting?: boolean;
  health: Health;
  /** Why it is not ok; a code for the program, `message` is for the person. */
  healthReason?: HealthReason;
  roles: RoleCount[];
  /** Held by its pods. */
  gpus: number;
  /** By all its replicas, where that is more than what they hold. */
  gpusAsked?: number;
  progress?: Progress;
  restarts: number;
  message: string;
  /** Annotation or label taas.dev/owner. */
  owner?: string;
  queue?: string;
  labels?: Record<string, string>;
  created: Time;
  started?: Time;
  finished?: Time;
}
export type HealthReason =
  | "Failed"
  | "CrashLoop"
  | "ImagePull"
  | "OutOfMemory"
  | "Unschedulable"
  | "PodFailed"
  | "NodeLost"
  | "NodeSilent"
  | "Restarting"
  | "RestartedLately"
  | "PendingLong"
  | "NoProgress"
  | "ConfigError"
  | "TerminatingLong"
  | "LossRises";

/** GET api/jobs */
export interface JobList {
  jobs: JobRow[];
}

/** GET api/jobs/{namespace}/{plural}/{name}; plural: trainingjobs or tfjobs. */
export interface JobDetail extends JobRow {
  conditions: Condition[];
  attempt: number;
  restartsByCause: Record<string, number>;
  /** The newest restarts, newest last. */
  restartHistory: RestartRecord[];
  replicas: Replica[];
  /** Of the job and its pods, oldest first. */
  events: ClusterEvent[];
  suspended: boolean;
  /** The pods may be listed by this user: without that `replicas` is empty. */
  podsVisible: boolean;
  /** What this user may do with this job, so that buttons say why they are disabled. */
  access: JobAccess;
  finishedFor?: { ttlSeconds?: number };
}
export interface JobAccess {
  update: boolean; // Suspend, resume, scale (patch of the job).
  delete: boolean;
  create: boolean; // Clone.
  logs: boolean; // get of pods/log.
}
export interface Condition {
  type: string;
  status: boolean;
  reason: string;
  message: string;
  at: Time;
}
export interface RestartRecord {
  role: Role;
  index: number;
  attempt: number;
  podNumber: number;
  cause: string; // userError, outOfMemory, killed, preempted, nodeLost, badNode
  exitCode?: number;
  message: string;
  node: string;
  at: Time;
}
export interface ClusterEvent {
  type: "Normal" | "Warning";
  reason: string;
  message: string;
  count: number;
  at: Time;
  /** "job", or the replica it is about ("worker-1"). */
  about: string;
}

/** One square of the grid; one that has no pod has only role, index and state. */
export interface Replica {
  role: Role;
  index: number;
  /**
   * Missing: no pod exists now. Removed: nor shall there be one, as the job is over or suspended.
   * Waiting: its node waits before it starts the program again.
   */
  state:
    | "Missing"
    | "Removed"
    | "Pending"
    | "Running"
    | "Waiting"
    | "Succeeded"
    | "Failed"
    | "Unknown"
    | "Terminating";
  health: Health;
  healthReason?: HealthReason;
  pod?: string;
  podNumber?: number;
  attempt?: number;
  node?: string;
  ip?: string;
  ready?: boolean;
  /** Why it waits or failed, in the cluster's words. */
  message?: string;
  restarts?: number;
  exitCode?: number;
  exitReason?: string;
  gpus?: number;
  devices?: string[];
  created?: Time;
  started?: Time;
  finished?: Time;
}

/**
 * GET api/jobs/{ns}/{plural}/{name}/manifest and GET api/pods/{ns}/{name}: the object as the API
 * server has it, read with the user's own rights, without managedFields.
 */
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; [key: string]: unknown };
  [key: string]: unknown;
};

/**
 * GET api/jobs/{ns}/{plural}/{name}/usage: what its pods use now, by metrics.k8s.io, read with the
 * user's own rights and kept for some seconds.
 */
export interface JobUsage {
  /** By the pod's name; of those that are measured. */
  pods: Record<string, PodUsage>;
  /** Why there are none. */
  why?: "NotServed" | "Forbidden" | "Unavailable";
}
export interface PodUsage {
  /** In cores. */
  cpu: number;
  memoryMiB: number;
}

/**
 * GET api/jobs/{ns}/{plural}/{name}/usage/recorded: what its replicas have used since it began, as
 * the history has it.
 */
export interface RecordedUsage {
  /** Seconds that are put together into one point; 0: none are. */
  every: number;
  /** By replica, "worker-0": seconds since 1970, cores, MiB, GPUs (0 … 1), MiB of these. */
  replicas: Record<string, (number | null)[][]>;
  /** Why there are none. */
  why?: "NotRecorded" | "Forbidden" | "NotYet";
}

/** POST api/jobs[?dryRun=true], body: one manifest in YAML or JSON, taken as it is. */
export interface Created {
  object: KubeObject;
  /** Warnings of the API server, such as of unknown fields. */
  warnings: string[];
}

/** PATCH api/jobs/{ns}/{plural}/{name}; DELETE of the same path deletes it and its pods (204). */
export interface JobChange {
  suspend?: boolean;
  /** Of the workers. */
  workers?: number;
}

/**
 * GET api/jobs/{ns}/{plural}/{name}/series[?since=STEP]; evaluator: the curves of the test data.
 */
export interface SeriesAnswer {
  /** Who answered, such as "chief-0"; absent: nobody does now. */
  source?: string;
  /** [step, seconds since 1970, value] */
  series: Record<string, [number, number, number][]>;
  evaluator?: Record<string, [number, number, number][]>;
  /** Why there are none. */
  message?: string;
  /** As the history has them: nobody answers now, or the job is gone. */
  archived?: boolean;
}

/** GET api/jobs/{ns}/{plural}/{name}/training: what the job's trainer says besides its curves. */
export interface TrainingFacts {
  /** Who answered, such as "chief-0"; absent: nobody does now. */
  source?: string;
  /** Of an all-reduce: each replica that trains. */
  ranks?: RankTime[];
  /** The replica that the others wait for; absent: none is notably slower. */
  slowest?: string;
  /** Absent: the job keeps none, as far as its manifest says. */
  checkpoints?: JobCheckpoints;
  /** Of a job that is over, where the dashboard sees its volumes. */
  model?: ModelOffer;
  /** Why nobody answers. */
  message?: string;
}
/** What GET api/jobs/{ns}/{plural}/{name}/model sends. */
export interface ModelOffer {
  /** A name for it: "mnist.tar". */
  file: string;
  /** "checkpoint": nothing was exported, so it is the newest of those. */
  kind: "safetensors" | "savedModel" | "checkpoint";
  bytes: number;
}
/** Shares of its time, 0 … 1; the rest is the update and what follows it. */
export interface RankTime {
  replica: string;
  compute: number;
  /** For the slowest of the others. */
  wait: number;
  /** Of gradients, for which it waits. */
  exchange: number;
  /** Of gradients, beside compute: no part of the sum. */
  hidden: number;
  bytesPerStep: number;
}
export interface JobCheckpoints {
  /** In its pods. */
  dir: string;
  /** What holds it: one of these, or nothing that stays. */
  claim?: string;
  hostPath?: string;
  /** On the machine of the dashboard. */
  folder?: string;
  /** Who says which there are: of "history" as they were last seen; absent: nobody. */
  from?: "trainer" | "folder" | "status" | "history";
  /** The newest first, 11 at most. */
  newest: { step: number; bytes?: number; savedAt?: Time }[];
}

/** GET api/jobs/{ns}/{plural}/{name}/events: what is known of the job's event files. */
export interface EventsState {
  runs: number;
  files: number;
  /** Read so far, of the size that is known. */
  bytes: number;
  bytesTotal: number;
  /** Who serves the files, such as "chief-0"; "": nobody does now. */
  source: string;
  /** Why there is nothing, or nothing new; "": all is well. */
  message: string;
  problems: EventProblem[];
}
export interface EventProblem {
  run: string;
  /** "": the directory itself. */
  file: string;
  byte: number;
  what: string;
}
/** What JSON has no number for is a text. */
export type JsonNumber = number | "NaN" | "Infinity" | "-Infinity";
/** GET …/events/data/histograms/tags */
export interface HistogramTags {
  tags: HistogramTag[];
}
export interface HistogramTag {
  /** "." is the top directory; "eval" the evaluator's; "checkpoints" the weights of each. */
  run: string;
  tag: string;
  displayName: string;
  description: string;
  /** Histograms that are kept. */
  count: number;
  firstStep?: number;
  lastStep?: number;
  /** The most that one of them has. */
  bins: number;
}
/** GET …/events/data/histograms/series?run=&tag=[&steps=FROM..TO][&max=N] */
export interface HistogramSeries {
  run: string;
  tag: string;
  firstStep?: number;
  lastStep?: number;
  /** Of these at most `max` come, spread evenly, the first and the last among them. */
  inRange: number;
  histograms: {
    step: number;
    wall: JsonNumber;
    min: JsonNumber;
    max: JsonNumber;
    /** One more than counts; both are empty where nothing was counted. */
    edges: JsonNumber[];
    counts: JsonNumber[];
  }[];
}
/**
 * GET …/events/data/plugin/distributions/distributions?run=&tag=: seconds since 1970, step, and the
 * values below which so many ten-thousandths of all lie.
 */
export type Distributions = [JsonNumber, number, [number, JsonNumber][]][];

/**
 * GET api/jobs/{ns}/{plural}/{name}/logs?replica=&tail=&since=&previous=&follow=: a stream of one
 * JSON object per line, in order of time as far as they had been written at the start.
 *   replica: "worker-1", may be given several times; none: all.
 *   tail: lines of each replica, 1000 unless given; 0: all.   since: ISO time.
 *   previous=true: the container before this one.   follow=true: goes on.
 */
export type LogRecord =
  /** A line: time, replica, text. */
  | { t: Time; r: string; l: string }
  /** Something about a replica's log: it began, ended, or cannot be read and why. */
  | { r: string; note: "begin" | "end" | "error"; podNumber?: number; message?: string };
/** Of a log that goes on, once: all that was written before has come. */
export interface LogMark {
  r: "";
  note: "live";
}

/** GET api/gpus */
export interface GpuMap {
  resource: string;
  /** False: the user may not list nodes; `nodes` then has only where her own pods are. */
  nodesVisible: boolean;
  nodes: GpuNode[];
  /** Pods that ask for GPUs and have no node yet. */
  pending: GpuHolder[];
  /** GPUs that pods ask for which this user may not see. */
  hiddenPending?: number;
}
export interface GpuNode {
  name: string;
  ready: boolean;
  schedulable: boolean;
  /** Of the label nvidia.com/gpu.product; "simulated" on the local cluster's fake ones. */
  product: string;
  simulated: boolean;
  memoryMiB?: number;
  /** Absent where nodes are not visible. */
  capacity?: number;
  allocatable?: number;
  /** Held by pods that this user may not see. */
  hidden: number;
  holders: GpuHolder[];
  /** Known devices: what each has, from whom. */
  devices: GpuDevice[];
}
export interface GpuHolder {
  namespace: string;
  pod: string;
  count: number;
  /** Of the devices it got; empty: the cluster does not say which (count only). */
  devices: string[];
  /** Who says so; trainer: the devices that the trainer in the pod finds. */
  source: "node" | "allocatedResourcesStatus" | "trainer" | "count";
  job?: { kind: JobKind; namespace: string; name: string };
  role?: Role;
  index?: number;
  owner?: string;
  state: Replica["state"];
  since?: Time;
  /** It holds GPUs and its job makes no progress, is over or is suspended. */
  idle: boolean;
  idleReason?: "NoProgress" | "JobEnded" | "JobSuspended";
}
export interface GpuDevice {
  id: string;
  health: "Healthy" | "Unhealthy" | "Unknown";
  /** More than one pod claims it, one by an old status: how many, also hidden ones. */
  claims?: number;
  /** 0 … 1, from the trainer's /status; absent: nobody measures it. */
  utilization?: number;
  memoryUsedMiB?: number;
  memoryTotalMiB?: number;
  /** What it draws, and the most that it may. */
  powerWatts?: number;
  powerLimitWatts?: number;
  temperatureC?: number;
  /** Why it computes more slowly than it could; empty: nothing slows it down. */
  throttle?: GpuThrottle[];
  /** Memory errors that could not be corrected, since it was reset. */
  eccUncorrected?: number;
}
export type GpuThrottle =
  | "PowerCap"
  | "Heat"
  | "HardwareHeat"
  | "PowerBrake"
  | "SyncBoost"
  | "HardwareSlowdown";

/** GET api/queues */
export interface QueueList {
  /** kueue: its objects are there; builtin: the order of creation. */
  source: "kueue" | "builtin";
  queues: Queue[];
}
export interface Queue {
  /** "" where `inOrder`. */
  name: string;
  /** Of those that are in no queue of Kueue: in the order of creation, which is no promise. */
  inOrder?: boolean;
  /** Of a LocalQueue; a ClusterQueue has none. */
  namespace?: string;
  clusterQueue?: string;
  cohort?: string;
  strategy?: string;
  stopped?: boolean;
  /** Why it admits nothing, in Kueue's words. */
  message?: string;
  /** Workloads name it and there is none. */
  missing?: boolean;
  /** `used` is absent where it is not known. */
  usage: QueueUsage[];
  /** The first ones in order; `waiting` are all, and of these `hidden` not for this user. */
  pending: QueueEntry[];
  waiting: number;
  hidden: number;
  admitted: number;
}
export interface QueueUsage {
  resource: string;
  flavor?: string;
  used?: number;
  nominal?: number;
  /** Of what is used. */
  borrowed?: number;
  borrowingLimit?: number;
}
export interface QueueEntry {
  /** In the ClusterQueue, hidden ones counted; 0: it is not in the line, see `state`. */
  position: number;
  /** reserved: it has quota and waits for checks; inactive: it was taken out. */
  state: "waiting" | "reserved" | "inactive";
  namespace: string;
  /** Absent: a workload of another kind, or a job out of sight. */
  job?: { kind: JobKind; namespace: string; name: string };
  owner?: string;
  workload?: string;
  /** The LocalQueue. */
  queue?: string;
  priority?: number;
  gpus: number;
  since: Time;
  reason: string;
}

/** GET api/access?namespace=N: may this user make jobs there? */
export interface NamespaceAccess {
  namespace: string;
  create: Record<JobKind, boolean>;
}

/** GET api/history[?namespace=&text=&before=&limit=] */
export interface HistoryList {
  jobs: HistoryRow[];
  /** For `before` of the next page; absent: that was the last. */
  next?: string;
  /** Why it may lack what is newest. */
  message?: string;
}
export interface HistoryRow extends JobRow {
  deleted?: Time;
  /** It went while nobody looked: `deleted` is when that was found. */
  deletedUnseen?: boolean;
}
/** GET api/history/{uid} */
export interface HistoryDetail extends HistoryRow {
  conditions: Condition[];
  attempt?: number;
  restartsByCause: Record<string, number>;
  restartHistory?: RestartRecord[];
  events: ClusterEvent[];
  manifest?: KubeObject;
  /** As they were last seen; absent: never. */
  checkpoints?: JobCheckpoints;
  /** Absent: nothing was measured, or this user may not see it. */
  usage?: RecordedUsage;
  series: SeriesAnswer;
  logs: HistoryLog[];
  /** What is recorded and this user may not see. */
  withheld?: Withheld[];
}
export interface HistoryLog {
  replica: string;
  podNumber?: number;
  lines: { t: Time; l: string }[];
  truncated: boolean;
}
export type Withheld = "events" | "manifest" | "logs";

/**
 * GET api/stream?jobs=1 | job={ns}/{plural}/{name} | gpus=1 | queues=1 (any of them together):
 * server-sent events, one stream per tab. It resumes after Last-Event-ID (or ?after=) and sends a
 * comment every 15 s. Events, by name:
 *   jobs     JobsEvent; `full` replaces all rows
 *   job      JobEvent; again whenever something of it has changed
 *   gpus     GpuMap
 *   queues   QueueList
 *   cluster  ClusterState
 *   end      StreamEnd; the last one
 */
export interface JobsEvent {
  full: boolean;
  rows: JobRow[];
  /** By uid. */
  gone: string[];
}
export interface JobEvent {
  /** null: it does not exist, or the user may not see it. */
  job: JobDetail | null;
}
export interface ClusterState {
  /** False: the API server has not answered since `since`; what is shown is as of then. */
  connected: boolean;
  since?: Time;
  message?: string;
  /** The server's clock at sending, for ages that do not depend on this machine's. */
  now: Time;
}
export interface StreamEnd {
  reason: "Unauthenticated" | "ServerStops" | "TooSlow" | "Internal";
  message: string;
}
