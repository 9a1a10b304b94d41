// The search in the history, kept in the URL as ?q=.

import { useCallback, useEffect, useRef, useState } from "react";
import { useSearchParams } from "react-router";

// A request per letter would show the answer to "be" after that to "bert".
export const TYPED_MS = 250;

export interface Search {
  /** In the input. */
  typed: string;
  /** What the table shows. */
  text: string;
  type: (text: string) => void;
}

export function useSearch(): Search {
  const [search, setSearch] = useSearchParams();
  const text = search.get("q") ?? "";
  const [typed, setTyped] = useState(text);
  // In the URL when this rendered last, and what we have put there, which comes a moment later.
  const [seen, setSeen] = useState(text);
  const [sent, setSent] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (text !== seen) {
    setSeen(text);
    // Not by us: the browser's Back, or a link to a search.
    if (text !== sent) {
      setSent(text);
      setTyped(text);
    }
  }
  const type = useCallback(
    (next: string) => {
      setTyped(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        setSent(next);
        setSearch(
          (before) => {
            const after = new URLSearchParams(before);
            if (next === "") after.delete("q");
            else after.set("q", next);
            return after;
          },
          { replace: true },
        );
      }, TYPED_MS);
    },
    [setSearch],
  );
  return { typed, text, type };
}
