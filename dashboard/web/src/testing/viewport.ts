// Which elements are on the screen, where nothing is laid out: all, unless a test says otherwise.
//
//   viewport.isIn = (element) => element.tagName !== "SECTION";
//   act(() => viewport.scrolled());

const ALL: (element: Element) => boolean = () => true;

export const viewport = {
  isIn: ALL,
  observers: new Set<FakeIntersectionObserver>(),

  scrolled(): void {
    for (const observer of viewport.observers) observer.report();
  },

  reset(): void {
    viewport.isIn = ALL;
    viewport.observers.clear();
  },
};

export class FakeIntersectionObserver {
  readonly #callback: IntersectionObserverCallback;
  readonly #targets = new Set<Element>();

  constructor(callback: IntersectionObserverCallback) {
    this.#callback = callback;
  }

  observe(target: Element): void {
    this.#targets.add(target);
    viewport.observers.add(this);
    this.report();
  }

  report(): void {
    const entries = [...this.#targets].map((target) => ({
      target,
      isIntersecting: viewport.isIn(target),
    }));
    const self = this as unknown as IntersectionObserver;
    this.#callback(entries as unknown as IntersectionObserverEntry[], self);
  }

  disconnect(): void {
    viewport.observers.delete(this);
  }
}
