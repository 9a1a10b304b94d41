// A replica's time as parts of one bar, with the words for each.

import type { RankTime } from "../../../api/types";
import type { Texts } from "../../../i18n/en";

export type PartName = "compute" | "wait" | "exchange" | "rest";

export interface Part {
  name: PartName;
  word: string;
  /** 0 … 100 */
  percent: number;
}

const share = (value: number): number => Math.min(1, Math.max(0, value));

/** In the order of a step; together 100, also where the parts that were measured are more. */
export function partsOf(rank: RankTime, words: Texts["job"]["trained"]): Part[] {
  const told = [share(rank.compute), share(rank.wait), share(rank.exchange)] as const;
  const sum = told[0] + told[1] + told[2];
  const scale = 100 / Math.max(1, sum);
  return [
    { name: "compute", word: words.compute, percent: told[0] * scale },
    { name: "wait", word: words.wait, percent: told[1] * scale },
    { name: "exchange", word: words.exchange, percent: told[2] * scale },
    { name: "rest", word: words.rest, percent: Math.max(0, 1 - sum) * 100 },
  ];
}
