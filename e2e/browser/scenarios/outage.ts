// A cluster that goes away while pages of it are open, and comes back: each page says that what it
// shows is old, keeps it, and is live again by itself.

import type { Page } from "playwright-core";
import { act } from "../src/acts";
import { fill, nameIt, startFrom } from "../src/form";
import { expectSoon } from "../src/patience";
import { heading } from "../src/steps";
import type { Visit } from "../src/visit";

/** jobs.steady writes lines all the time; "come" makes jobs.new. */
export async function outage(visit: Visit): Promise<void> {
  const { page, t, task, trouble } = visit;
  const steady = task.jobs["steady"] ?? "";
  const job = `jobs/${task.namespace}/trainingjobs/${steady}`;
  await row(page, steady).waitFor();
  const logs = await tab(visit, `${job}/logs`);
  const lines = logs.page.getByRole("log").locator(".logs-text");
  await lines.nth(2).waitFor();
  const form = await tab(visit, "submit");
  await startFrom(form, "own-workers");
  await nameIt(form, "draft");
  await form.page.getByText(t.submit.status.accepted).first().waitFor();

  trouble.expectLoss();
  await act("stop");
  await page.getByText(t.shell.phase.offline, { exact: true }).waitFor();
  await page.getByText(words(t.shell.serverLost)).waitFor();
  await row(page, steady).waitFor();
  // Other pages open, too, and say the same.
  await page.getByRole("link", { name: steady, exact: true }).click();
  await logs.page.getByText(t.logs.waiting).waitFor();
  await lines.nth(2).waitFor();
  await fill(form, t.submit.field.image, "busybox:1.36");
  await form.page.getByText(t.submit.status.unanswered).first().waitFor();

  await act("start");
  await heading(visit, steady).waitFor();
  await page.getByText(t.shell.phase.live, { exact: true }).waitFor();
  await page.getByText(words(t.shell.serverLost)).waitFor({ state: "detached" });
  await page.goBack();
  await act("come");
  await row(page, task.jobs["new"] ?? "").waitFor();
  await logs.page.getByText(t.logs.live).waitFor();
  const last = await lines.last().innerText();
  await expectSoon("more lines", async () => (await lines.last().innerText()) !== last);
  await form.page.getByText(t.submit.status.accepted).first().waitFor();
  for (const one of [logs, form]) await one.page.close();
}

/** Another tab of the same person. */
async function tab(visit: Visit, at: string): Promise<Visit> {
  const page = await visit.page.context().newPage();
  await page.goto(new URL(at, visit.task.url).href);
  return { ...visit, page };
}

function row(page: Page, name: string) {
  return page.getByRole("row").filter({ hasText: name });
}

/** The beginning of a sentence with a time in it. */
function words(sentence: (time: string) => string): string {
  return sentence("|").split("|")[0] ?? "";
}
