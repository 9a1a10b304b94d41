// What was read once is old when the stream says that the thing has changed.

import { useEffect, useEffectEvent, useRef } from "react";

/** Calls `read` when `version` is another one than before; not for the first one. */
export function useReadAgain(version: string, read: () => void): void {
  const known = useRef(version);
  const onChange = useEffectEvent(read);
  useEffect(() => {
    if (known.current === version) return;
    known.current = version;
    onChange();
  }, [version]);
}
