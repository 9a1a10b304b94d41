// The view in the URL. Text is typed faster than some browsers allow the address to change, so it
// goes there when the typing rests.

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "react-router";
import type { View } from "./view";
import { PLAIN, readView, writeView } from "./view";

const TYPED_MS = 200;

export interface ViewControl {
  view: View;
  setView: (change: Partial<View>) => void;
  clear: () => void;
}

export function useView(): ViewControl {
  const [search, setSearch] = useSearchParams();
  const stored = useMemo(() => readView(search), [search]);
  const [typed, setTyped] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = useCallback(
    (change: Partial<View>) =>
      setSearch((before) => writeView({ ...readView(before), ...change }, before), {
        replace: true,
      }),
    [setSearch],
  );
  const setView = useCallback(
    (change: Partial<View>) => {
      clearTimeout(timer.current);
      const all = typed === undefined ? change : { text: typed, ...change };
      if (change.text === undefined) {
        setTyped(undefined);
        write(all);
        return;
      }
      setTyped(change.text);
      timer.current = setTimeout(() => {
        setTyped(undefined);
        write(all);
      }, TYPED_MS);
    },
    [write, typed],
  );
  const clear = useCallback(() => {
    clearTimeout(timer.current);
    setTyped(undefined);
    write({ ...PLAIN, table: stored.table, group: stored.group });
  }, [write, stored.table, stored.group]);
  const view = useMemo(
    () => (typed === undefined ? stored : { ...stored, text: typed }),
    [stored, typed],
  );
  return { view, setView, clear };
}
