// Every page of the dashboard, and what opens on it: where it is, how one gets there, and when
// there is all that it shows.

import { fill, openAdvanced, startFrom } from "./form";
import { action, heading } from "./steps";
import type { Visit } from "./visit";

export interface Place {
  name: string;
  /** Below the dashboard's own address. */
  at: string;
  /** What one does there, until all is to be seen. */
  until: (visit: Visit) => Promise<void>;
}

type Jobs = Record<string, string>;

/** jobs, namespace: as seeds.py has them. */
export function places(jobs: Jobs, namespace: string): Place[] {
  const job = (which: string, kind = "trainingjobs"): string =>
    `jobs/${namespace}/${kind}/${jobs[which] ?? ""}`;
  return [
    ...lists(jobs),
    ...jobPages(jobs, job),
    ...logsAndCurves(job),
    ...submitPages(job),
    ...historyPages(jobs),
    { name: "embed", at: `embed${job("running").slice(4)}/loss`, until: chartDrawn },
    { name: "not-found", at: "no/such/page", until: says(({ t }) => t.shell.notFoundTitle) },
    {
      name: "job-none",
      at: `jobs/${namespace}/trainingjobs/never-was`,
      until: says(({ t }) => t.job.noneTitle),
    },
  ];
}

export function says(text: (visit: Visit) => string): Place["until"] {
  return (visit) => visit.page.getByText(text(visit)).first().waitFor();
}

function lists(jobs: Jobs): Place[] {
  const quiet = "ns=quiet";
  return [
    {
      name: "jobs",
      at: "jobs",
      until: async ({ page }) => page.getByRole("row").nth(5).waitFor(),
    },
    { name: "jobs-none", at: `jobs?${quiet}`, until: says(({ t }) => t.jobs.noJobsIn("quiet")) },
    { name: "jobs-no-match", at: "jobs?q=nothing-like-it", until: says(({ t }) => t.jobs.noMatch) },
    {
      name: "jobs-selected",
      at: "jobs",
      until: async ({ page, t }) => {
        await page.getByRole("row").nth(5).waitFor();
        await page.getByLabel(t.jobs.select(jobs["running"] ?? "")).click();
        await page.getByRole("button", { name: t.jobs.clearSelection }).waitFor();
      },
    },
    {
      name: "gpus-map",
      at: "gpus",
      until: async ({ page, t }) => {
        await page.getByText(t.gpus.legend, { exact: true }).click();
        await page.getByText(t.gpus.legendHeld).waitFor();
      },
    },
    {
      name: "gpus-table",
      at: "gpus?view=table",
      until: ({ page }) => page.getByRole("row").nth(5).waitFor(),
    },
    {
      name: "queues",
      at: "queues",
      until: ({ page, t }) => page.getByRole("table", { name: t.queues.pending }).waitFor(),
    },
    {
      name: "queues-none",
      at: `queues?${quiet}`,
      until: says(({ t }) => t.queues.noneIn("quiet")),
    },
  ];
}

function jobPages(jobs: Jobs, job: (which: string, kind?: string) => string): Place[] {
  const overview = (which: string, kind?: string): Place => ({
    name: `job-${which}`,
    at: job(which, kind),
    until: async (visit) => {
      await heading(visit, jobs[which] ?? "").waitFor();
      await visit.page.getByRole("heading", { name: visit.t.job.timeline }).waitFor();
    },
  });
  const drawer = (tab: "overview" | "env" | "tfConfig", replica: string): Place => ({
    name: `job-replica-${tab}`,
    at: `${job("running")}?replica=${replica}`,
    until: async ({ page, t }) => {
      const open = page.getByRole("dialog");
      await open.getByRole("tab", { name: t.job.pod.tabs[tab] }).click();
      const shown = { overview: t.job.pod.image, env: "TF_CONFIG", tfConfig: t.job.pod.tfRaw };
      await open.getByRole("tabpanel").getByText(shown[tab]).first().waitFor();
    },
  });
  return [
    ...["running", "done", "failed", "suspended", "unschedulable", "crashing", "gpus"].map(
      (which) => overview(which),
    ),
    overview("tfjob", "tfjobs"),
    {
      name: "job-table",
      at: `${job("gpus")}?view=table`,
      until: ({ page }) => page.getByRole("row").nth(3).waitFor(),
    },
    drawer("overview", "chief-0"),
    drawer("env", "worker-0"),
    drawer("tfConfig", "worker-0"),
    { name: "job-yaml", at: `${job("running")}?tab=yaml`, until: says(() => "apiVersion") },
    dialog("scale", job("running"), ({ t }) => t.job.scale, ({ t }) => t.job.scaleLabel),
    dialog("delete", job("running"), ({ t }) => t.job.remove, ({ t }) => t.job.deleteFinal),
  ];
}

export type Words = (visit: Visit) => string;

export function dialog(name: string, at: string, button: Words, shown: Words): Place {
  return {
    name: `job-${name}`,
    at,
    until: async (visit) => {
      await action(visit, button(visit)).click();
      await visit.page.getByRole("dialog").getByText(shown(visit)).first().waitFor();
    },
  };
}

function logsAndCurves(job: (which: string, kind?: string) => string): Place[] {
  const lines = async ({ page }: Visit): Promise<void> =>
    page.locator(".logs-row .logs-text").nth(3).waitFor();
  return [
    { name: "logs", at: `${job("tfjob", "tfjobs")}/logs`, until: lines },
    { name: "logs-of-trainer", at: `${job("running")}/logs`, until: lines },
    {
      name: "logs-search",
      at: `${job("tfjob", "tfjobs")}/logs`,
      until: async (visit) => {
        await lines(visit);
        await visit.page.keyboard.press("/");
        await visit.page.keyboard.type("Worker");
        await visit.page.locator("mark").first().waitFor();
      },
    },
    { name: "logs-ended", at: `${job("failed")}/logs`, until: says(() => "vocab.txt") },
    { name: "training", at: `${job("running")}/training`, until: chartDrawn },
    { name: "training-ended", at: `${job("done")}/training`, until: chartDrawn },
    { name: "training-histograms", at: `${job("running")}/training`, until: histogramDrawn },
    {
      name: "training-none",
      at: `${job("gpus")}/training`,
      until: says(({ t }) => t.training.histograms),
    },
  ];
}

async function chartDrawn({ page, t }: Visit): Promise<void> {
  const name = t.training.chartOf(t.training.tags["loss"] ?? "");
  await page.getByRole("slider", { name, exact: true }).locator("canvas").waitFor();
}

async function histogramDrawn(visit: Visit): Promise<void> {
  const { page, t } = visit;
  await chartDrawn(visit);
  const histograms = page.getByRole("region", { name: t.training.histograms, exact: true });
  await histograms.scrollIntoViewIfNeeded();
  await histograms.getByRole("img").first().waitFor();
}

function submitPages(job: (which: string) => string): Place[] {
  const clone = `submit?clone=${job("unschedulable").replace("jobs/", "")}`;
  const accepted = says(({ t }) => t.submit.status.accepted);
  return [
    { name: "submit", at: "submit", until: accepted },
    {
      name: "submit-own-image",
      at: "submit",
      until: async (visit) => {
        await startFrom(visit, "own-image");
        await accepted(visit);
      },
    },
    {
      name: "submit-advanced",
      at: "submit",
      until: async (visit) => {
        await accepted(visit);
        await openAdvanced(visit, "training");
        await openAdvanced(visit, "volumes");
      },
    },
    {
      name: "submit-yaml",
      at: "submit",
      until: async (visit) => {
        await accepted(visit);
        // On a phone it is another side; beside each other there is no switch.
        const side = visit.page.locator(".submit-sides").getByText(visit.t.submit.yaml);
        if (await side.isVisible()) await side.click();
        await visit.page.getByRole("textbox", { name: visit.t.submit.yamlLabel }).waitFor();
      },
    },
    {
      name: "submit-templates",
      at: "submit",
      until: async ({ page, t }) => {
        await page.getByRole("button", { name: t.submit.templates }).click();
        await page.getByRole("dialog").getByText(t.submit.picker.hint).waitFor();
      },
    },
    { name: "submit-clone", at: clone, until: accepted },
    {
      name: "submit-problem",
      at: "submit",
      until: async (visit) => {
        await accepted(visit);
        await fill(visit, visit.t.submit.field.name, "Not a name");
        await visit.page.getByText(visit.t.submit.issue.name).first().waitFor();
      },
    },
  ];
}

function historyPages(jobs: Jobs): Place[] {
  const openOne = async (visit: Visit): Promise<void> => {
    const name = jobs["gone"] ?? "";
    await visit.page.getByRole("link", { name, exact: true }).first().click();
    await heading(visit, name).waitFor();
  };
  const tab = (name: string, label: Words): Place => ({
    name,
    at: "history",
    until: async (visit) => {
      await openOne(visit);
      await visit.page.getByRole("tab", { name: label(visit) }).click();
    },
  });
  return [
    { name: "history", at: "history", until: ({ page }) => page.getByRole("row").nth(2).waitFor() },
    {
      name: "history-none",
      at: "history?ns=quiet",
      until: says(({ t }) => t.history.emptyIn("quiet")),
    },
    { name: "history-job", at: "history", until: openOne },
    tab("history-logs", ({ t }) => t.history.logs),
    tab("history-curves", ({ t }) => t.history.curves),
    tab("history-yaml", ({ t }) => t.job.yaml),
  ];
}

