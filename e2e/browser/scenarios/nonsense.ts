// Jobs with nonsense in each text that is their users' (nonsense.py): it is shown as the text that
// it is, whole or cut, and changes nothing around it.

import { taken, tooWide, turned } from "../src/faults";
import type { Place } from "../src/pages";
import { dialog, says } from "../src/pages";
import { expectSoon } from "../src/patience";
import { heading } from "../src/steps";
import type { Task } from "../src/task";
import { tour } from "../src/tour";
import type { Visit } from "../src/visit";

const MARKUP = "<script>hurt=1</script>";

export async function nonsense(task: Task): Promise<void> {
  const { language } = task;
  const looks = [
    { language, theme: "light" as const, width: 1280 },
    { language, theme: "dark" as const, width: 360 },
  ];
  const see = async ({ page }: Visit): Promise<void> => {
    const faults = [...(await tooWide(page)), ...(await taken(page)), ...(await turned(page))];
    if (faults.length > 0) throw new Error(faults.join("\n"));
  };
  await tour(task, looks, see, nonsensePlaces(task.jobs, task.namespace));
}

/** Where each of the texts shows. */
function nonsensePlaces(jobs: Record<string, string>, namespace: string): Place[] {
  const job = (which: string): string =>
    `jobs/${namespace}/trainingjobs/${jobs[which] ?? ""}`;
  return [
    { name: "jobs", at: "jobs", until: async (visit) => row(visit, jobs["nonsense"] ?? "") },
    choice("jobs-owners", "jobs", ({ t }) => t.jobs.columns.owner),
    { name: "gpus-map", at: "gpus", until: says(({ t }) => t.gpus.waiting) },
    { name: "gpus-table", at: "gpus?view=table", until: shown },
    choice("gpus-owners", "gpus", ({ t }) => t.gpus.owner),
    { name: "queues", at: "queues", until: shown },
    ...["nonsense", "waiting", "ended"].map((which) => ({
      name: `job-${which}`,
      at: job(which),
      until: shown,
    })),
    dialog("delete", job("nonsense"), ({ t }) => t.job.remove, ({ t }) => t.job.deleteFinal),
    drawer("overview", job("nonsense")),
    drawer("env", job("nonsense")),
    { name: "job-yaml", at: `${job("nonsense")}?tab=yaml`, until: shown },
    ...logs(job("nonsense")),
    { name: "submit-clone", at: `submit?clone=${job("nonsense").replace("jobs/", "")}`, until: says(
      ({ t }) => t.submit.status.accepted,
    ) },
    { name: "history", at: "history", until: shown },
    past("history-job", jobs["gone"] ?? "", shown),
    past("history-logs", jobs["ended"] ?? "", async (visit) => {
      await visit.page.getByRole("tab", { name: visit.t.history.logs }).click();
      await visit.page.getByRole("tabpanel").getByText(MARKUP).first().waitFor();
    }),
    past("history-yaml", jobs["gone"] ?? "", async (visit) => {
      await visit.page.getByRole("tab", { name: visit.t.job.yaml }).click();
      await visit.page.getByRole("tabpanel").getByText(MARKUP).first().waitFor();
    }),
  ];
}

function shown({ page }: Visit): Promise<void> {
  // What a phone leaves out of a table is in the document, too.
  return page.getByText(MARKUP).filter({ visible: true }).first().waitFor();
}

function row({ page }: Visit, name: string): Promise<void> {
  return page.getByRole("row").filter({ hasText: name }).first().waitFor();
}

/** A list of owners to choose from, open. */
function choice(name: string, at: string, label: (visit: Visit) => string): Place {
  return {
    name,
    at,
    until: async (visit) => {
      const { page, t } = visit;
      const list = page.getByRole("combobox", { name: label(visit), exact: true });
      // On a phone the lists of the page of jobs are behind a button.
      const behind = page.getByRole("button", { name: t.jobs.filters, exact: true });
      await list.or(behind).first().waitFor();
      if (await behind.isVisible()) await behind.click();
      await list.click();
      const option = page.locator(".ant-select-item-option").filter({ hasText: MARKUP }).first();
      await option.waitFor();
      // Until it is where the list opens: it is measured elsewhere.
      await expectSoon(`the list of ${label(visit)}`, () => option.evaluate(isInWindow));
    },
  };
}

/** In the page. */
function isInWindow(element: Element): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
}

function drawer(tab: "overview" | "env", at: string): Place {
  return {
    name: `job-replica-${tab}`,
    at: `${at}?replica=worker-0`,
    until: async ({ page, t }) => {
      const open = page.getByRole("dialog");
      await open.getByRole("tab", { name: t.job.pod.tabs[tab] }).click();
      await open.getByRole("tabpanel").getByText(MARKUP).first().waitFor();
    },
  };
}

/** As they come, with long lines wrapped or not, and with what was searched for marked. */
function logs(job: string): Place[] {
  const at = `${job}/logs`;
  const lines = async ({ page }: Visit): Promise<void> => {
    await page.getByRole("log").getByText(MARKUP).first().waitFor();
  };
  return [
    { name: "logs", at, until: lines },
    {
      name: "logs-wrapped",
      at,
      until: async (visit) => {
        await lines(visit);
        await visit.page.getByRole("log").focus();
        await visit.page.keyboard.press("w");
        await lines(visit);
      },
    },
    {
      name: "logs-search",
      at,
      until: async (visit) => {
        await lines(visit);
        await visit.page.keyboard.press("/");
        await visit.page.keyboard.type(MARKUP);
        await visit.page.locator("mark").first().waitFor();
      },
    },
  ];
}

function past(name: string, job: string, until: (visit: Visit) => Promise<void>): Place {
  return {
    name,
    at: "history",
    until: async (visit) => {
      await visit.page.getByRole("link", { name: job, exact: true }).first().click();
      await heading(visit, job).waitFor();
      await until(visit);
    },
  };
}
