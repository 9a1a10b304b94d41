// How long ago something was, by the cluster's clock; it renders only when its text changes.

import type { ReactNode } from "react";
import { memo, useCallback, useSyncExternalStore } from "react";
import { useServices } from "../api/services";
import { useText } from "../i18n";

interface Props {
  since: string | undefined;
  /** Ended: the age stands still. */
  until?: string | undefined;
  /** Two units ("3h 12m") instead of one. */
  long?: boolean;
}

export const Age = memo(function Age({ since, until, long = false }: Props): ReactNode {
  const { clock } = useServices().live;
  const { format } = useText();
  const text = useCallback(() => {
    if (since === undefined) return "—";
    const end = until === undefined ? clock.now() : Date.parse(until);
    const seconds = (end - Date.parse(since)) / 1000;
    return long ? format.span(seconds) : format.age(seconds);
  }, [since, until, long, clock, format]);
  const shown = useSyncExternalStore(clock.subscribe, text);
  if (since === undefined) return shown;
  return (
    <time className="numeric" dateTime={since} title={format.dateTime(since)}>
      {shown}
    </time>
  );
});
