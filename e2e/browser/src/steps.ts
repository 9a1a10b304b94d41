// What a person does on the pages, found by the words that she reads.

import type { Locator } from "playwright-core";
import type { Role } from "../../../dashboard/web/src/api/types";
import type { JobState } from "../../../dashboard/web/src/api/types";
import type { Visit } from "./visit";

/** By the main navigation. */
export async function goTo(visit: Visit, place: "jobs" | "gpus" | "queues" | "submit" | "history") {
  const { page, t } = visit;
  const nav = page.getByRole("navigation", { name: t.shell.navigation });
  await nav.getByRole("link", { name: t.shell[place], exact: true }).click();
}

/** From the list of jobs to one's own page. */
export async function openJob(visit: Visit, name: string): Promise<void> {
  await goTo(visit, "jobs");
  await visit.page.getByRole("link", { name, exact: true }).click();
  await heading(visit, name).waitFor();
}

export function heading({ page }: Visit, text: string): Locator {
  return page.getByRole("heading", { level: 1, name: text, exact: true });
}

export type Tab = "overview" | "logs" | "training" | "yaml";

/** Of the job whose page is open. */
export async function openTab({ page, t }: Visit, tab: Tab): Promise<void> {
  const tabs = page.getByRole("navigation", { name: t.job.tabs });
  await tabs.getByRole("link", { name: t.job[tab], exact: true }).click();
}

/** On the page of a job: its state, as its head says it. */
export async function awaitState({ page, t }: Visit, state: JobState): Promise<void> {
  const head = page.locator(".page-title");
  await head.getByText(t.common.state[state], { exact: true }).waitFor();
}

/** Until the message of the job's page, and what is said about it, have all these words. */
export async function awaitMessage({ page, t }: Visit, ...words: string[]): Promise<void> {
  const message = page.getByRole("region", { name: t.job.message });
  for (const word of words) await message.getByText(word).first().waitFor();
}

export function action({ page, t }: Visit, name: string): Locator {
  return page.getByRole("group", { name: t.job.actions }).getByRole("button", { name });
}

/** The replicas of the job, as a table; until these are all, and all run. */
export async function awaitReplicas(visit: Visit, names: string[]): Promise<void> {
  const { page, t } = visit;
  const replicas = page.getByRole("region", { name: t.job.replicas });
  await replicas.getByText(t.job.asTable, { exact: true }).click();
  for (const name of names) {
    const row = replicas.getByRole("row").filter({ hasText: name });
    await row.getByText(t.common.replicaState.Running, { exact: true }).waitFor();
  }
}

export async function removeJob(visit: Visit): Promise<void> {
  const { page, t } = visit;
  // What the job uses, and what it has learned, may be asked for in the moment in which it goes.
  visit.trouble.expect(404, /\/(usage|training)$/);
  await action(visit, t.job.remove).click();
  await page.getByRole("dialog").getByRole("button", { name: t.job.remove }).click();
  await page.getByText(t.job.youDeleted).waitFor();
}

export function replicaNames(counts: Partial<Record<Role, number>>): string[] {
  return Object.entries(counts).flatMap(([role, count]) =>
    Array.from({ length: count }, (_, index) => `${role}-${index}`),
  );
}
