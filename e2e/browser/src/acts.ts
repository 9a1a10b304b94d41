// What a scenario cannot do by the page: that the cluster goes away, that a token ends. The test
// around it does so, on the other side of standard input and output (browser.py).
//
//   await act("stop");                    // when it returns the cluster has stopped

import readline from "node:readline";

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** One line of standard input, as JSON. */
export async function hear(): Promise<unknown> {
  const { value, done } = await lines.next();
  if (done) throw new Error("standard input has ended");
  return JSON.parse(value);
}

/** What it returned. */
export async function act(name: string): Promise<unknown> {
  process.stdout.write(`act ${name}\n`);
  return hear();
}

/** Nothing more is heard: the program may end. */
export function stopHearing(): void {
  process.stdin.destroy();
}
