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
  /** What logs in: links of `taas dashboard`, each good once, or a token to paste. */
  links: string[];
  token?: string;
  /** Links are asked for by act("link"), where a run is longer than they are good for. */
  linksAsked?: boolean;
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
