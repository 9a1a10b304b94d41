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

export function useSettings(): SettingsControl {
  const [search, setSearch] = useSearchParams();
  const stored = useMemo(() => readSettings(search), [search]);
  const [pending, setPending] = useState<Partial<Settings>>({});
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = useCallback(
    (more: Partial<Settings>) => {
      const all = { ...pending, ...more };
      setPending(all);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        setPending({});
        setSearch((before) => writeSettings({ ...readSettings(before), ...all }, before), {
          replace: true,
        });
      }, RESTS_MS);
    },
    [pending, setSearch],
  );
  const settings = useMemo(() => ({ ...stored, ...pending }), [stored, pending]);
  return { settings, change };
}
