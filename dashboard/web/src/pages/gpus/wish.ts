// What is looked for, as a link says it: /gpus?find=3x4 are three workers with four GPUs each.

import type { Wish } from "./finder";

export const WORKERS_MAX = 4096;
export const GPUS_MAX = 64;
const PARAMETER = "find";
const FORM = /^(\d{1,4})x(\d{1,2})$/;

export function wishLink(workers: number, gpus: number): [string, string] {
  return [PARAMETER, `${workers}x${gpus}`];
}

export function readWish(search: URLSearchParams): Wish | undefined {
  const [, workers, gpus] = FORM.exec(search.get(PARAMETER) ?? "") ?? [];
  const wish = { workers: Number(workers ?? 0), gpus: Number(gpus ?? 0), product: "" };
  const fine = wish.workers >= 1 && wish.workers <= WORKERS_MAX && wish.gpus >= 1;
  return fine && wish.gpus <= GPUS_MAX ? wish : undefined;
}
