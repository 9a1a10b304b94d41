// The form that submits a job, filled in by its labels.

import type { Locator } from "playwright-core";
import type { Role } from "../../../dashboard/web/src/api/types";
import { goTo, heading } from "./steps";
import type { Visit } from "./visit";

export type Program = "bundled" | "own" | "tfjob";

function form({ page, t }: Visit): Locator {
  return page.getByRole("region", { name: t.submit.form, exact: true });
}

/** A new job from a template. */
export async function startFrom(visit: Visit, template: string): Promise<void> {
  const { page, t } = visit;
  await goTo(visit, "submit");
  await heading(visit, t.submit.title).waitFor();
  await page.getByRole("button", { name: t.submit.templates }).click();
  const words = t.submit.template[template];
  if (!words) throw new Error(`there is no template ${template}`);
  await page.getByRole("dialog").getByRole("button", { name: words.title }).first().click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

/** A field by its label; where several have it, the first. */
export function field(visit: Visit, label: string): Locator {
  // Groups of fields have names, too, and some of them the same.
  const controls = visit.page.locator("input, textarea, button");
  return form(visit).getByLabel(label, { exact: true }).and(controls).first();
}

export async function fill(visit: Visit, label: string, value: string): Promise<void> {
  const control = field(visit, label);
  await control.fill(value);
  await control.blur();
}

/** A job's name, and the namespace in which one may make jobs. */
export async function nameIt(visit: Visit, name: string): Promise<void> {
  const { t, task } = visit;
  await fill(visit, t.submit.field.name, name);
  await fill(visit, t.submit.field.namespace, task.namespace);
}

type Section = keyof Visit["t"]["submit"]["section"];

/** The form with all fields, and in it this section. */
export async function openAdvanced(visit: Visit, section: Section): Promise<void> {
  const { page, t } = visit;
  await page.getByText(t.submit.advanced, { exact: true }).click();
  const head = form(visit).getByRole("button", { name: t.submit.section[section] });
  if ((await head.getAttribute("aria-expanded")) !== "true") await head.click();
}

/** Of a role's card, in the section of roles. */
export function roleField(visit: Visit, role: Role, label: string): Locator {
  const card = form(visit).getByRole("region", { name: visit.t.common.role[role], exact: true });
  return card.getByLabel(label, { exact: true });
}

/** Once the server has said that it would take it; then its page. */
export async function send(visit: Visit, name: string): Promise<void> {
  const { page, t } = visit;
  await page.getByText(t.submit.status.accepted).first().waitFor();
  await page.getByRole("button", { name: t.submit.send, exact: true }).click();
  await heading(visit, name).waitFor();
}
