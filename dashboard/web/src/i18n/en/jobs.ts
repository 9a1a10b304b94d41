import type { Action, Spared } from "../../pages/jobs/bulk";
import type { ColumnKey } from "../../pages/jobs/columns";
import { plural } from "../plural";

const jobsOf = (count: number): string => plural(count, "job", "jobs");

export const jobs = {
  title: "Jobs",
  step: (step: string) => `step ${step}`,
  stepOf: (step: string, all: string) => `step ${step} of ${all}`,

  summary: "Summary",
  attention: "Need attention",
  running: "Running",
  pending: "Pending",
  gpusHeld: "GPUs held",
  attentionNow: (count: number) =>
    count === 1 ? "1 job needs attention" : `${jobsOf(count)} need attention`,

  columns: {
    health: "Health",
    name: "Name",
    namespace: "Namespace",
    kind: "Kind",
    state: "State",
    ready: "Ready",
    gpus: "GPUs",
    progress: "Progress",
    loss: "Loss",
    accuracy: "Accuracy",
    restarts: "Restarts",
    message: "Message",
    age: "Age",
    owner: "Owner",
    queue: "Queue",
  } satisfies Record<ColumnKey, string>,
  chooseColumns: "Columns",
  allColumns: "Show all",
  sort: "Order",
  reverse: "Reverse the order",
  sortBy: (column: string) => `By ${column.toLowerCase()}`,

  search: "Name, message, owner, queue",
  label: "Label",
  filters: "Filters",
  clearFilter: "Clear the filter",
  shown: (shown: string, all: string) => `${shown} of ${all} jobs`,

  select: (name: string) => `Select ${name}`,
  selectAll: "Select all that show",
  selected: (count: number) => `${jobsOf(count)} selected`,
  clearSelection: "Select none",
  compare: "Compare",
  compareWhy: (most: number) => `Tick two to ${most} jobs to see their curves in one chart`,
  bulk: "Actions for the selected jobs",
  actions: { suspend: "Suspend", resume: "Resume", delete: "Delete" } satisfies Record<
    Action,
    string
  >,
  ask: {
    suspend: (count: number) => `Suspend ${jobsOf(count)}?`,
    resume: (count: number) => `Resume ${jobsOf(count)}?`,
    delete: (count: number) => `Delete ${jobsOf(count)}?`,
  } satisfies Record<Action, (count: number) => string>,
  askNone: {
    suspend: "None of these jobs can be suspended",
    resume: "None of these jobs can be resumed",
    delete: "None of these jobs can be deleted",
  } satisfies Record<Action, string>,
  underWay: {
    suspend: (count: number) => `Suspending ${jobsOf(count)}…`,
    resume: (count: number) => `Resuming ${jobsOf(count)}…`,
    delete: (count: number) => `Deleting ${jobsOf(count)}…`,
  } satisfies Record<Action, (count: number) => string>,
  isDone: {
    suspend: (count: number) => `${jobsOf(count)} suspended`,
    resume: (count: number) => `${jobsOf(count)} resumed`,
    delete: (count: number) => `${jobsOf(count)} deleted`,
  } satisfies Record<Action, (count: number) => string>,
  effect: {
    suspend:
      "Their pods are stopped and their GPUs become free. The jobs stay; resumed, they go on " +
      "from their last checkpoint.",
    resume:
      "Their pods are made again as soon as there is room, and go on from the last checkpoint.",
    delete:
      "The jobs and their pods are deleted. Checkpoints and all that was written to volumes " +
      "stay. This cannot be undone.",
  } satisfies Record<Action, string>,
  deleteHistory: (days: number) =>
    "Their state, events and last log lines stay in the history for " +
    `${plural(days, "day", "days")}.`,
  deleteNoHistory: "This dashboard keeps no history: their state, events and logs are lost.",
  spared: {
    ended: "left alone: it has ended",
    deleting: "left alone: it is being deleted",
    isSuspended: "left alone: it is suspended",
    notSuspended: "left alone: it is not suspended",
  } satisfies Record<Spared, string>,
  did: { suspend: "suspended", resume: "resumed", delete: "deleted" } satisfies Record<
    Action,
    string
  >,
  doing: "under way",
  stop: "Stop",
  outcome: (done: number, failed: number) =>
    failed === 0 ? `Done for ${jobsOf(done)}.` : `Done for ${jobsOf(done)}; ${failed} failed.`,
  andMore: (count: number) => `and ${plural(count, "more", "more")}`,
  notBegun: (count: number) => `${jobsOf(count)} not begun.`,

  unreadable: "The jobs cannot be read",
  noJobs: "No jobs yet",
  noJobsIn: (namespace: string) => `No jobs in ${namespace}`,
  noJobsHint: "Make one with kubectl, or fill in the form:",
  submit: "Submit a job",
  noMatch: "No job matches the filter",
};
