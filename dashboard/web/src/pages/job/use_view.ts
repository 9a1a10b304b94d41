// What of a job's page is open, kept in the URL so that a link shows the same:
//
//   ?tab=yaml&view=table&replica=worker-1

import { useCallback } from "react";
import { useSearchParams } from "react-router";

export interface View {
  tab: "overview" | "yaml";
  replicas: "grid" | "table";
  /** The replica whose drawer is open; "": none. */
  replica: string;
  setReplicas: (view: "grid" | "table") => void;
  openReplica: (name: string) => void;
  closeReplica: () => void;
}

export function useView(): View {
  const [search, setSearch] = useSearchParams();
  const set = useCallback(
    (name: string, value: string, replace: boolean) => {
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          if (value === "") after.delete(name);
          else after.set(name, value);
          return after;
        },
        { replace },
      );
    },
    [setSearch],
  );
  return {
    tab: search.get("tab") === "yaml" ? "yaml" : "overview",
    replicas: search.get("view") === "table" ? "table" : "grid",
    replica: search.get("replica") ?? "",
    setReplicas: useCallback((view) => set("view", view === "table" ? view : "", true), [set]),
    // The browser's Back closes what a click has opened.
    openReplica: useCallback((name: string) => set("replica", name, false), [set]),
    closeReplica: useCallback(() => set("replica", "", true), [set]),
  };
}
