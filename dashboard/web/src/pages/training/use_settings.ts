// The settings of the URL. What is dragged or typed changes faster than some browsers allow the
// address to change, so it goes there when the hand rests.

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "react-router";
import type { Settings } from "./settings";
import { readSettings, writeSettings } from "./settings";

const RESTS_MS = 200;

export interface SettingsControl {
  settings: Settings;
  change: (change: Partial<Settings>) => void;
}

interface Pending {
  change: Partial<Settings>;
  /** It is on its way to the address, and comes from there with a later rendering. */
  sent: boolean;
}

const NONE: Pending = { change: {}, sent: false };

export function useSettings(): SettingsControl {
  const [search, setSearch] = useSearchParams();
  const stored = useMemo(() => readSettings(search), [search]);
  const [pending, setPending] = useState(NONE);
  const [seen, setSeen] = useState(search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (search !== seen) {
    setSeen(search);
    if (pending.sent) setPending(NONE);
  }
  const change = useCallback(
    (more: Partial<Settings>) => {
      const all = { ...pending.change, ...more };
      setPending({ change: all, sent: false });
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        setPending({ change: all, sent: true });
        setSearch((before) => writeSettings({ ...readSettings(before), ...all }, before), {
          replace: true,
        });
      }, RESTS_MS);
    },
    [pending, setSearch],
  );
  const settings = useMemo(() => ({ ...stored, ...pending.change }), [stored, pending]);
  return { settings, change };
}
