// The cluster's time, so that ages do not depend on this machine's clock.

export class ServerClock {
  #offset = 0;
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Milliseconds since 1970, as the server counts them. */
  readonly now = (): number => Date.now() + this.#offset;

  /** From ClusterState.now. */
  set(serverNow: string): void {
    const at = Date.parse(serverNow);
    if (Number.isFinite(at)) this.#offset = at - Date.now();
  }

  /** Calls each second; one timer for all that show an age. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => {
      for (const one of [...this.#listeners]) one();
    }, 1000);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  };
}
