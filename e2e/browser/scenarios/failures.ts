// Jobs that cannot go on: the page alone says why, and the job is repaired through it.

import { act } from "../src/acts";
import { fill, nameIt, openAdvanced, roleField, send, startFrom } from "../src/form";
import { action, awaitMessage, awaitState, goTo, heading, removeJob } from "../src/steps";
import type { Visit } from "../src/visit";

// More than any node of a test has.
const GPUS_TOO_MANY = "64";
const LOOP = "while :; do echo it works; sleep 1; done";
const LOST_DATA = "/data/of/last/year is empty";
// A line without end is kept in memory as a whole.
const HUNGRY = "echo I eat; tail /dev/zero";
const LIMIT = "64Mi";
const NO_IMAGE = "taas/none:1";
const IMAGE = "busybox:1.37";

interface Own {
  image?: string;
  script: string;
  name: string;
}

/** A job of one worker that runs a script. */
async function fillIn(visit: Visit, { image = IMAGE, script, name }: Own): Promise<void> {
  const { t } = visit;
  await startFrom(visit, "own-workers");
  await nameIt(visit, name);
  await fill(visit, t.submit.field.image, image);
  await fill(visit, t.submit.field.command, "sh\n-c");
  await fill(visit, t.submit.field.args, script);
  await fill(visit, t.submit.scale.workers, "1");
}

/** The job that takes the place of a failed one: a copy that is corrected. */
async function clone(visit: Visit, name: string): Promise<void> {
  const { t } = visit;
  await action(visit, t.job.clone).click();
  await heading(visit, t.submit.title).waitFor();
  await fill(visit, t.submit.field.name, name);
}

async function finish(visit: Visit, bad: string, good: string): Promise<void> {
  const { page, t } = visit;
  await awaitState(visit, "Running");
  await page.getByText(t.job.headline.Running).waitFor();
  for (const name of [bad, good]) {
    await goTo(visit, "jobs");
    await page.getByRole("link", { name, exact: true }).click();
    await heading(visit, name).waitFor();
    await removeJob(visit);
  }
}

/** More GPUs than there are; the copy does without. */
export async function unschedulable(visit: Visit): Promise<void> {
  const { page, t, language } = visit;
  const [bad, good] = [`greedy-${language}`, `modest-${language}`];
  await fillIn(visit, { name: bad, script: LOOP });
  await page.getByLabel(t.submit.scale.gpus, { exact: true }).click();
  await fill(visit, t.submit.scale.perWorker, GPUS_TOO_MANY);
  await send(visit, bad);
  await awaitMessage(visit, t.common.healthReason.Unschedulable, "nvidia.com/gpu");
  await goTo(visit, "jobs");
  const row = page.getByRole("row").filter({ hasText: bad });
  await row.getByText(t.common.health.warning).waitFor();
  await page.getByRole("link", { name: bad, exact: true }).click();
  await clone(visit, good);
  await page.getByLabel(t.submit.scale.gpus, { exact: true }).click();
  await send(visit, good);
  await finish(visit, bad, good);
}

/** A program that ends with 1 after it has said why; the copy has its mistake corrected. */
export async function exitOne(visit: Visit): Promise<void> {
  const { page, t, language } = visit;
  const [bad, good] = [`broken-${language}`, `mended-${language}`];
  await fillIn(visit, { name: bad, script: `echo ${LOST_DATA}; exit 1` });
  await send(visit, bad);
  await awaitState(visit, "Failed");
  await awaitMessage(visit, t.common.healthReason.Failed, t.job.pod.exitCode(1));
  await page.getByRole("link", { name: t.job.logsOf("worker-0") }).click();
  await page.getByRole("log").getByText(LOST_DATA).first().waitFor();
  await page.goBack();
  await clone(visit, good);
  await fill(visit, t.submit.field.args, LOOP);
  await send(visit, good);
  await finish(visit, bad, good);
}

/** A program that takes more memory than its limit; the copy's takes none. */
export async function outOfMemory(visit: Visit): Promise<void> {
  const { page, t, language } = visit;
  const [bad, good] = [`hungry-${language}`, `frugal-${language}`];
  await fillIn(visit, { name: bad, script: HUNGRY });
  await openAdvanced(visit, "roles");
  const limit = roleField(visit, "worker", t.submit.field.memoryLimit);
  await limit.fill(LIMIT);
  await limit.blur();
  await send(visit, bad);
  await awaitMessage(visit, t.common.healthReason.OutOfMemory, "OOMKilled");
  const restarts = page.getByRole("region", { name: t.job.timeline });
  await restarts.getByText(t.job.cause.outOfMemory, { exact: true }).first().waitFor();
  await clone(visit, good);
  await fill(visit, t.submit.field.args, LOOP);
  await send(visit, good);
  await finish(visit, bad, good);
}

/** An image that nobody has; the copy names one that exists. */
export async function imagePull(visit: Visit): Promise<void> {
  const { t, language } = visit;
  const [bad, good] = [`nowhere-${language}`, `there-${language}`];
  await fillIn(visit, { name: bad, script: LOOP, image: NO_IMAGE });
  await send(visit, bad);
  await awaitMessage(visit, t.common.healthReason.ImagePull, NO_IMAGE);
  await clone(visit, good);
  await fill(visit, t.submit.field.image, IMAGE);
  await send(visit, good);
  await finish(visit, bad, good);
}

/** A training that has diverged: all its pods are well, and the page alone says that it is not.
 * "come" makes jobs.diverging. */
export async function lossRises(visit: Visit): Promise<void> {
  const { page, t, task } = visit;
  const name = task.jobs["diverging"] ?? "";
  await act("come");
  const link = page.getByRole("link", { name, exact: true });
  await link.click();
  await awaitState(visit, "Running");
  await act("calm");
  await awaitMessage(visit, t.common.healthReason.LossRises, t.job.advice.LossRises);
  await goTo(visit, "jobs");
  const row = page.getByRole("row").filter({ hasText: name });
  await row.getByText(t.common.health.warning).waitFor();
  await link.click();
  await page.getByRole("link", { name: t.job.seeCurves }).click();
  const chart = t.training.chartOf(t.training.tags["loss"] ?? "");
  await page.getByRole("slider", { name: chart, exact: true }).waitFor();
  await page.goBack();
  await heading(visit, name).waitFor();
  await removeJob(visit);
}
