// A value that components can watch with useSyncExternalStore.

import { useSyncExternalStore } from "react";

export class Cell<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  readonly set = (value: T): void => {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export interface Readable<T> {
  get: () => T;
  subscribe: (listener: () => void) => () => void;
}

export function useCell<T>(cell: Readable<T>): T {
  return useSyncExternalStore(cell.subscribe, cell.get);
}
