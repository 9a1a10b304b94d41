// What of the logs shows, kept in the URL so that a link shows the same:
//
//   ?replica=worker-1&replica=ps&q=loss&regex=1&only=1&wrap=1&follow=0&time=utc&tail=0&previous=1

import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import type { FeedOptions } from "./feed";
import type { Query } from "./find";
import type { TimeMode } from "./line_time";
import { TIME_MODES } from "./line_time";

export const TAILS: readonly number[] = [100, 1_000, 10_000, 0];
export const TAIL_DEFAULT = 1_000;
// Of a phone: lines wrap and have no times unless one wants them.
const NARROW = "(max-width: 800px)";

export interface LogsView {
  options: FeedOptions;
  query: Query;
  onlyMatches: boolean;
  wrap: boolean;
  times: TimeMode;
  set: (change: Record<string, string | readonly string[]>) => void;
}

/** "": the parameter goes. */
export function useLogsView(): LogsView {
  const [search, setSearch] = useSearchParams();
  const replicas = search.getAll("replica").join(" ");
  const tail = tailOf(search.get("tail"));
  const previous = search.get("previous") === "1";
  const follow = search.get("follow") !== "0" && !previous;
  const options = useMemo(
    () => ({ replicas: replicas === "" ? [] : replicas.split(" "), tail, previous, follow }),
    [replicas, tail, previous, follow],
  );
  const text = search.get("q") ?? "";
  const regex = search.get("regex") === "1";
  const matchCase = search.get("case") === "1";
  const query = useMemo(() => ({ text, regex, matchCase }), [text, regex, matchCase]);
  const narrow = useMemo(() => window.matchMedia(NARROW).matches, []);
  const wrap = search.get("wrap");
  const times = TIME_MODES.find((mode) => mode === search.get("time"));
  const set = useCallback<LogsView["set"]>(
    (change) => {
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(change)) {
            after.delete(name);
            for (const one of typeof value === "string" ? [value] : value) {
              if (one !== "") after.append(name, one);
            }
          }
          return after;
        },
        { replace: true },
      );
    },
    [setSearch],
  );
  return {
    options,
    query,
    onlyMatches: search.get("only") === "1",
    wrap: wrap === null ? narrow : wrap === "1",
    times: times ?? (narrow ? "off" : "local"),
    set,
  };
}

function tailOf(text: string | null): number {
  const tail = Number(text ?? TAIL_DEFAULT);
  return TAILS.includes(tail) && text !== "" ? tail : TAIL_DEFAULT;
}
