// A value as it was when it last stood still, for what must not be asked at each key that is typed.

import { useEffect, useState } from "react";

/** Of typing: what comes and goes with each key would only make the page jump. */
export const CALM_MS = 500;

export function useDelayed<T>(value: T, milliseconds: number): T {
  const [still, setStill] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setStill(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return still;
}
