// What a square says in words.

import type { Replica } from "../../../api/types";
import type { Texts } from "../../../i18n/en";
import { wordFor } from "../../../i18n";
import type { SaidIn } from "../../../i18n/said";
import { replicaName } from "../names";
import { whyWords } from "../said";

/** In the cluster's words, else what kind of trouble it is; empty: none. */
export function whyOf(replica: Replica, t: Texts): string {
  const { message, healthReason } = replica;
  if (message !== undefined && message !== "") return whyWords(message, t);
  return healthReason ? wordFor(t.common.healthReason, healthReason) : "";
}

export function squareLabel(replica: Replica, t: Texts, said: SaidIn["said"]): string {
  const parts = [
    replicaName(replica),
    wordFor(t.common.replicaState, replica.state),
    replica.health === "ok" ? "" : wordFor(t.common.health, replica.health),
    replica.node ?? "",
    said(whyOf(replica, t)),
  ];
  return parts.filter((part) => part !== "").join(", ");
}
