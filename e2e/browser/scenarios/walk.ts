// A job's whole life through the pages: submitted by the form, watched, stopped, resumed, scaled,
// deleted, found in the history.

import { act } from "../src/acts";
import { fill, nameIt, openAdvanced, send, startFrom } from "../src/form";
import { awaitCurve, awaitLogsOf } from "../src/live";
import {
  action,
  awaitReplicas,
  awaitState,
  goTo,
  heading,
  openTab,
  removeJob,
  replicaNames,
} from "../src/steps";
import type { Visit } from "../src/visit";

// Longer than any test: whoever waits for the end waits for the wrong thing.
const STEPS = "2000000000";
// A line a second or so: with a hundred the few of a parameter server are hard to find.
const LOG_STEPS = "2000";

/** The bundled trainer: four processes with curves. */
export async function walkTrainer(visit: Visit): Promise<void> {
  const { t, language } = visit;
  const name = `walk-${language}`;
  await startFrom(visit, "quick");
  await nameIt(visit, name);
  await openAdvanced(visit, "training");
  await fill(visit, t.submit.field.maxSteps, STEPS);
  await fill(visit, t.submit.field.logSteps, LOG_STEPS);
  await send(visit, name);
  await awaitState(visit, "Running");
  await openTab(visit, "training");
  await awaitCurve(visit, t.training.tags["loss"] ?? "");
  // On a cluster its pods have a limit.
  if (visit.task.local) await act("calm");
  await openTab(visit, "logs");
  await awaitLogsOf(visit, replicaNames({ chief: 1, ps: 1, worker: 2 }));
  await openTab(visit, "overview");
  // It keeps no checkpoints, so that the page asks first.
  await stopAndGoOn(visit, async () => {
    await visit.page.getByText(t.job.suspendLoses).waitFor();
    await visit.page.getByRole("dialog").getByRole("button", { name: t.job.suspend }).click();
  });
  await scale(visit, 3);
  await awaitReplicas(visit, replicaNames({ chief: 1, ps: 1, worker: 3 }));
  await removeJob(visit);
  await findInHistory(visit, name);
}

/** A program of one's own, in two replicas. */
export async function walkOwn(visit: Visit): Promise<void> {
  const { t, language } = visit;
  const name = `own-${language}`;
  await startFrom(visit, "own-image");
  await nameIt(visit, name);
  await fill(visit, t.submit.field.image, "busybox:1.37");
  await fill(visit, t.submit.field.command, "sh\n-c");
  await fill(visit, t.submit.field.args, 'while :; do echo "here is $TAAS_ROLE"; sleep 1; done');
  await fill(visit, t.submit.scale.workers, "1");
  await send(visit, name);
  await awaitState(visit, "Running");
  await openTab(visit, "logs");
  await awaitLogsOf(visit, replicaNames({ ps: 1, worker: 1 }));
  await openTab(visit, "overview");
  await stopAndGoOn(visit);
  await scale(visit, 2);
  await awaitReplicas(visit, replicaNames({ ps: 1, worker: 2 }));
  await removeJob(visit);
  await findInHistory(visit, name);
}

async function stopAndGoOn(visit: Visit, agree?: () => Promise<void>): Promise<void> {
  const { t } = visit;
  await action(visit, t.job.suspend).click();
  await agree?.();
  await awaitState(visit, "Suspended");
  await action(visit, t.job.resume).click();
  await awaitState(visit, "Running");
}

async function scale(visit: Visit, workers: number): Promise<void> {
  const { page, t } = visit;
  await action(visit, t.job.scale).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(t.job.scaleLabel).fill(String(workers));
  await dialog.getByRole("button", { name: t.job.scale }).click();
}

/** Where there is one: in a cluster it is off unless one turns it on. */
async function findInHistory(visit: Visit, name: string): Promise<void> {
  const { page, t, task, trouble } = visit;
  if (!task.local) {
    await goTo(visit, "jobs");
    await page.getByText(t.jobs.noJobs, { exact: true }).waitFor();
    return;
  }
  // It is written down a moment after the job has gone; the page asks again by itself.
  trouble.expect(404, /\/api\/history\/[^/]+$/);
  await page.getByRole("link", { name: t.job.openHistory }).click();
  await page.waitForURL(/\/history\//);
  await page.getByRole("tab", { name: t.history.logs }).click();
  // Of whichever replica stands first.
  await page.getByRole("region", { name: /-0$/ }).waitFor();
  await heading(visit, name).waitFor();
  await goTo(visit, "history");
  await page.getByRole("row").filter({ hasText: name }).first().waitFor();
}
