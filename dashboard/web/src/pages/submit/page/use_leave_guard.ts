// Asks before a manifest is left that was written and not submitted.

import { useEffect, useRef } from "react";
import type { Blocker } from "react-router";
import { useBlocker } from "react-router";

export interface LeaveGuard {
  blocker: Blocker;
  /** The next navigation is not asked about. */
  allow: () => void;
}

export function useLeaveGuard(touched: boolean): LeaveGuard {
  const allowed = useRef(false);
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      touched && !allowed.current && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    if (!touched) return undefined;
    // The draft outlives a reload, but not the tab; which of them comes nobody can say.
    const ask = (event: BeforeUnloadEvent): void => {
      if (!allowed.current) event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [touched]);
  return {
    blocker,
    allow: () => {
      allowed.current = true;
    },
  };
}
