// English: the language that the type of all texts is made from.

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

export const en = {
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

export type Texts = typeof en;
