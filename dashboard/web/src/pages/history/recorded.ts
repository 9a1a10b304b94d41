// What the history says beyond HistoryList and HistoryDetail of types.ts; all of it may be absent.

import type { HistoryDetail, HistoryList, RestartRecord } from "../../api/types";

/** Parts that are recorded and that this user may not see. */
export type Withheld = "events" | "manifest" | "logs";

export type RecordedRow = HistoryList["jobs"][number] & {
  /** It went while nobody looked: `deleted` is when that was found. */
  deletedUnseen?: boolean;
};

export type RecordedLog = HistoryDetail["logs"][number] & { podNumber?: number };

export type RecordedJob = HistoryDetail & {
  deletedUnseen?: boolean;
  attempt?: number;
  restartHistory?: RestartRecord[];
  withheld?: Withheld[];
  logs: RecordedLog[];
};

export type RecordedList = HistoryList & {
  /** Why it may lack what is newest. */
  message?: string;
};
