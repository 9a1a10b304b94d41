// All scenarios, by the names under which tests ask for them.

import type { Task } from "../src/task";
import type { Visit } from "../src/visit";
import { begin } from "../src/visit";
import { everyPage } from "./every_page";
import { exitOne, imagePull, lossRises, outOfMemory, unschedulable } from "./failures";
import { keyboardOnly } from "./keyboard";
import { nonsense } from "./nonsense";
import { otherPort } from "./other_port";
import { outage } from "./outage";
import { screenshots } from "./screenshots";
import { underSubPath } from "./sub_path";
import { tokenEnds } from "./token";
import { walkOwn, walkTrainer } from "./walk";

/** One person's visit, logged in; what she sees when it fails is kept. */
function asVisit(run: (visit: Visit) => Promise<void>) {
  return async (task: Task): Promise<void> => {
    const visit = await begin(task, { language: task.language });
    try {
      await visit.login();
      await run(visit);
    } catch (error) {
      await visit.abandon(`${task.scenario}-${task.language}`);
      throw error;
    }
    await visit.end();
  };
}

export const SCENARIOS: Record<string, (task: Task) => Promise<void>> = {
  "walk of a trainer": asVisit(walkTrainer),
  "walk of an own image": asVisit(walkOwn),
  "more GPUs than there are": asVisit(unschedulable),
  "a program that ends with 1": asVisit(exitOne),
  "out of memory": asVisit(outOfMemory),
  "an image that nobody has": asVisit(imagePull),
  "a loss that rises": asVisit(lossRises),
  "by keyboard": asVisit(keyboardOnly),
  "under a path of its own": underSubPath,
  "every page": everyPage,
  "nonsense in every text": nonsense,
  "a cluster that goes away": asVisit(outage),
  "a token that ends": asVisit(tokenEnds),
  "another port of the host": asVisit(otherPort),
  screenshots,
};
