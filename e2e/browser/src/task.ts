// What one run of the browser is told, as JSON on standard input: links and tokens log in, so they
// are neither arguments nor variables, which others on the machine may read.

import type { Language } from "../../../dashboard/web/src/i18n/language";
import { hear } from "./acts";

export interface Task {
  /** Of SCENARIOS in main.ts. */
  scenario: string;
  language: Language;
  /** Of the dashboard, with a slash at its end. */
  url: string;
  /** What logs in; without it the links of `taas open`, for which act("link") asks. */
  token?: string;
  namespace: string;
  /** Where traces of a failure go, or screenshots. */
  folder: string;
  /** Whether commands of images run on this machine, and GPUs are simulated. */
  local: boolean;
  /** Jobs that are there already, by what they are for: see seeds.py. */
  jobs: Record<string, string>;
  /** Only these pages, and looks such as "en-light-1280", where some are named. */
  only?: string[];
  looks?: string[];
}

export async function readTask(): Promise<Task> {
  return (await hear()) as Task;
}
