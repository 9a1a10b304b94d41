import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { useKeptFocus } from "./use_kept_focus";

const ENVIRONMENT = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean };
const before = ENVIRONMENT.IS_REACT_ACT_ENVIRONMENT;
// As in a browser: act would run what comes after a paint at once.
beforeEach(() => {
  ENVIRONMENT.IS_REACT_ACT_ENVIRONMENT = false;
});
afterEach(() => {
  ENVIRONMENT.IS_REACT_ACT_ENVIRONMENT = before;
});

let show: (keys: string[]) => void;

/** An item that moves is made anew, as one of a window of many is. */
function List(): React.ReactNode {
  const [keys, setKeys] = useState(["a", "b"]);
  const scroller = useRef<HTMLDivElement>(null);
  const focus = useKeptFocus(keys, scroller, 'button[tabindex="0"]');
  useEffect(() => {
    show = setKeys;
  }, []);
  return (
    <div ref={scroller} role="toolbar" tabIndex={-1} onBlur={focus.onBlur}>
      {keys.map((key, index) => (
        <button
          key={`${index} ${key}`}
          tabIndex={index === focus.at ? 0 : -1}
          onFocus={() => focus.onFocus(key)}
        >
          {key}
        </button>
      ))}
    </div>
  );
}

test("is on the item that moved as soon as anybody can see it there", async () => {
  const host = document.body.appendChild(document.createElement("div"));
  const root = createRoot(host);
  root.render(<List />);
  await expect.poll(() => host.querySelectorAll("button").length).toBe(2);
  host.querySelectorAll("button")[1]?.focus();
  await expect.poll(() => host.querySelector('button[tabindex="0"]')?.textContent).toBe("b");
  const seen = new Promise<string | null>((resolve) => {
    new MutationObserver((_, observer) => {
      if (host.querySelectorAll("button").length < 3) return;
      observer.disconnect();
      const focused = document.activeElement;
      resolve(focused === document.body ? null : (focused?.textContent ?? null));
    }).observe(host, { childList: true, subtree: true });
  });
  show(["a", "new", "b"]);
  expect(await seen).toBe("b");
  root.unmount();
  host.remove();
});
