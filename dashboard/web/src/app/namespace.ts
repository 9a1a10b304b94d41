// The namespace that all pages show, kept in the URL as ?ns= so that a link shows the same.

import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { Path } from "react-router";
import { useSearchParams } from "react-router";
import { useServices } from "../api/services";
import type { JobRow } from "../api/types";
import { useSession } from "./session";

const PARAMETER = "ns";

/** "": all of them. */
export function useNamespace(): [string, (namespace: string) => void] {
  const [search, setSearch] = useSearchParams();
  const set = useCallback(
    (namespace: string) => {
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          if (namespace === "") after.delete(PARAMETER);
          else after.set(PARAMETER, namespace);
          return after;
        },
        { replace: true },
      );
    },
    [setSearch],
  );
  return [search.get(PARAMETER) ?? "", set];
}

/** A link to another page that keeps the namespace. */
export function useKeepNamespace(): (pathname: string) => Partial<Path> {
  const [namespace] = useNamespace();
  return useCallback(
    (pathname) => {
      if (namespace === "") return { pathname };
      return { pathname, search: `?${new URLSearchParams({ [PARAMETER]: namespace })}` };
    },
    [namespace],
  );
}

// A line end is in no name.
const BETWEEN = "\n";

/** Sorted: of the session, and of jobs that have come since the login. */
export function useNamespaces(): string[] {
  const { namespaces } = useSession();
  const { jobs } = useServices().live;
  const ofRows = useMemo(() => namespacesOf(jobs.get), [jobs]);
  // As one text: rows change all the time, their namespaces seldom.
  const seen = useSyncExternalStore(jobs.subscribe, ofRows);
  return useMemo(() => {
    const names = new Set([...namespaces, ...seen.split(BETWEEN)]);
    names.delete("");
    return [...names].sort();
  }, [namespaces, seen]);
}

function namespacesOf(get: () => { rows: readonly JobRow[] }): () => string {
  let last: readonly JobRow[] | undefined;
  let text = "";
  return () => {
    const { rows } = get();
    if (rows !== last) {
      last = rows;
      text = [...new Set(rows.map((row) => row.namespace))].sort().join(BETWEEN);
    }
    return text;
  };
}
