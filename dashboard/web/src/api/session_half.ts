// This page's half of the session: the token, sealed with a key that only the cookie has. It goes
// with every request. The browser sends the cookie to all ports of the host, and this half to
// nobody but this origin, so that no other server has both.
//
//   const half = new SessionHalf(base, () => window.location.reload());
//   half.set(session.half);       // after a login
//   headers.set("X-TaaS-Session", half.get());

export class SessionHalf {
  readonly #key: string;
  #half: string;

  /** onOther: another tab has logged in or out, so that what this tab has is no longer good. */
  constructor(base: string, onOther: () => void) {
    // One origin may have several dashboards, at several paths.
    this.#key = `taas.session ${new URL(base).pathname}`;
    this.#half = this.#stored();
    window.addEventListener("storage", ({ key, newValue }) => {
      if (key !== this.#key || (newValue ?? "") === this.#half) return;
      this.#half = newValue ?? "";
      onOther();
    });
  }

  get(): string {
    return this.#half;
  }

  /** "": nobody is logged in. */
  set(half: string): void {
    this.#half = half;
    try {
      if (half === "") localStorage.removeItem(this.#key);
      else localStorage.setItem(this.#key, half);
    } catch {
      // Where storage is switched off the session holds until the tab is loaded anew.
    }
  }

  #stored(): string {
    try {
      return localStorage.getItem(this.#key) ?? "";
    } catch {
      return "";
    }
  }
}
