// What jsdom lacks and every test needs.

import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";
import { FakeIntersectionObserver, viewport } from "./viewport";

// The size of a laptop's window, for what measures itself.
export const WINDOW = { width: 1400, height: 900 };

// The whole document behind each failure buries what failed.
configure({
  // The machines that build this have two cores and other work; what succeeds waits no longer.
  asyncUtilTimeout: 10_000,
  getElementError: (message) => new Error(message ?? "no such element"),
});

class FakeResizeObserver {
  readonly #callback: ResizeObserverCallback;

  constructor(callback: ResizeObserverCallback) {
    this.#callback = callback;
  }

  observe(target: Element): void {
    const box = [{ inlineSize: WINDOW.width, blockSize: WINDOW.height }];
    const entry = { target, contentRect: WINDOW, borderBoxSize: box, contentBoxSize: box };
    this.#callback([entry as unknown as ResizeObserverEntry], this);
  }

  unobserve(): void {}
  disconnect(): void {}
}

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  vi.stubGlobal("ResizeObserver", FakeResizeObserver);
  vi.stubGlobal("IntersectionObserver", FakeIntersectionObserver);
  viewport.reset();
  vi.stubGlobal("matchMedia", (media: string) => ({
    media,
    // No animations: nothing has to be waited for.
    matches: media.includes("reduce"),
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
  }));
  Object.defineProperties(HTMLElement.prototype, {
    offsetWidth: { configurable: true, get: () => WINDOW.width },
    offsetHeight: { configurable: true, get: () => WINDOW.height },
    clientWidth: { configurable: true, get: () => WINDOW.width },
    clientHeight: { configurable: true, get: () => WINDOW.height },
  });
  // The editor asks where its letters are; nothing is laid out here.
  Object.defineProperties(Range.prototype, {
    getClientRects: { configurable: true, value: () => [] },
    getBoundingClientRect: { configurable: true, value: () => new DOMRect() },
  });
  // jsdom only says that it has not implemented it, for pseudo-elements, on each call.
  const real = window.getComputedStyle.bind(window);
  vi.stubGlobal("getComputedStyle", (element: Element) => real(element));
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
