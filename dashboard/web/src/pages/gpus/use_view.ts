// The view in the URL: a link shows the same.

import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import type { View } from "./view";
import { PLAIN, readView, writeView } from "./view";

export interface ViewControl {
  view: View;
  setView: (change: Partial<View>) => void;
  clear: () => void;
}

export function useView(): ViewControl {
  const [search, setSearch] = useSearchParams();
  const view = useMemo(() => readView(search), [search]);
  const setView = useCallback(
    (change: Partial<View>) =>
      setSearch((before) => writeView({ ...readView(before), ...change }, before), {
        replace: true,
      }),
    [setSearch],
  );
  const { table, group } = view;
  const clear = useCallback(() => setView({ ...PLAIN, table, group }), [setView, table, group]);
  return { view, setView, clear };
}
