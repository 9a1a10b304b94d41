// The keyboard of the logs: / search, n and N matches, f follow, w wrap, End, and in the lines
// Shift with the arrows to select, c to copy.

import type { RefObject } from "react";
import { useEffect } from "react";
import type { LogSession } from "./session";
import type { LogsView } from "./use_logs_view";

export function useLogKeys(
  session: LogSession,
  view: LogsView,
  search: RefObject<{ focus: () => void } | null>,
): void {
  const { wrap, options, set } = view;
  useEffect(() => {
    const keys: Record<string, () => void> = {
      "/": () => search.current?.focus(),
      n: () => session.goToMatch(1),
      N: () => session.goToMatch(-1),
      f: () => set({ follow: options.follow ? "0" : "" }),
      w: () => set({ wrap: wrap ? "0" : "1" }),
      End: () => session.toEnd(),
      Home: () => session.toStart(),
    };
    const onKey = (event: KeyboardEvent): void => {
      const other = event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target);
      const act = other || event.defaultPrevented ? undefined : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [session, wrap, options, set, search]);
}

/** In a field, or in a menu or dialog that has its own keys. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.closest("input, textarea, select, [role=combobox], [role=menu], [role=dialog]") !== null
  );
}
