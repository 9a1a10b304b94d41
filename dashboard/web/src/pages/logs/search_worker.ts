// Searches beside the page: an expression that takes for ever holds up nobody but this worker,
// which is then ended from outside.

import { matchingLines } from "./find";

export interface Task {
  source: string;
  flags: string;
  text: string;
  starts: Uint32Array;
}

self.onmessage = (event: MessageEvent<Task>): void => {
  const { source, flags, text, starts } = event.data;
  self.postMessage(matchingLines(new RegExp(source, flags), text, starts));
};

// It runs.
self.postMessage([]);
