// Chinese: a key that is missing here does not compile.

import { common } from "./common";
import { embed } from "./embed";
import { errors } from "./errors";
import { gpus } from "./gpus";
import { history } from "./history";
import { job } from "./job";
import { jobs } from "./jobs";
import { login } from "./login";
import { logs } from "./logs";
import { queues } from "./queues";
import { shell } from "./shell";
import { submit } from "./submit";
import { training } from "./training";
import type { Texts } from "../en";

export const zh: Texts = {
  common,
  embed,
  errors,
  gpus,
  history,
  job,
  jobs,
  login,
  logs,
  queues,
  shell,
  submit,
  training,
};
