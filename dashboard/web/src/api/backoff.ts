// How long to wait before the next try to connect.

// Half a second hides a restart of the server; 15 s keep a thousand open pages from becoming a
// storm.
const FIRST_MS = 500;
const MOST_MS = 15_000;

export class Backoff {
  #tries = 0;
  readonly #random: () => number;

  /** random: 0 … 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Of FIRST_MS doubled with each try, 50 to 100 %: pages that fail together spread out. */
  next(): number {
    const most = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(this.#tries, 10));
    this.#tries += 1;
    return most * (0.5 + 0.5 * this.#random());
  }

  reset(): void {
    this.#tries = 0;
  }
}
