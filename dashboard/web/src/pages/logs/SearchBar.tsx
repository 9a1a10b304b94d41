// The search in the lines that are here: text or expression, how many match, from one to the next.

import { DownOutlined, FilterOutlined, UpOutlined } from "@ant-design/icons";
import { Button, Input, Tooltip } from "antd";
import type { InputRef } from "antd";
import type { KeyboardEvent, ReactNode, RefObject } from "react";
import { useEffect, useState } from "react";
import { useAnnounce } from "../../components/Announcer";
import { useText } from "../../i18n";
import type { LogSession } from "./session";
import type { LogsView } from "./use_logs_view";

// Between two keys; the search itself is beside the page, but its first results move it.
const TYPING_MS = 150;

interface Props {
  view: LogsView;
  session: LogSession;
  input: RefObject<InputRef | null>;
}

export function SearchBar({ view, session, input }: Props): ReactNode {
  const { t } = useText();
  const { query, onlyMatches, set } = view;
  const [typed, setTyped] = useTyped(view);
  const { search } = session;
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      setTyped("");
      event.currentTarget.closest(".logs-body")?.querySelector<HTMLElement>(".logs-view")?.focus();
    } else if (event.key === "Enter") {
      session.goToMatch(event.shiftKey ? -1 : 1);
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <div className="logs-search" role="search">
      <Input
        ref={input}
        className="logs-search-text"
        aria-label={t.logs.searchLabel}
        placeholder={t.logs.search}
        allowClear
        value={typed}
        status={search.problem ? "error" : ""}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKey}
        suffix={
          <>
            <Mini on={query.matchCase} name={t.logs.matchCase} onChange={(on) => set({ case: on })}>
              Aa
            </Mini>
            <Mini on={query.regex} name={t.logs.regex} onChange={(on) => set({ regex: on })}>
              .*
            </Mini>
          </>
        }
      />
      <span className="logs-search-buttons">
        <Step session={session} direction={-1} name={t.logs.before} icon={<UpOutlined />} />
        <Step session={session} direction={1} name={t.logs.next} icon={<DownOutlined />} />
        <Tooltip title={t.logs.onlyMatches}>
          <Button
            className="logs-toggle"
            aria-label={t.logs.onlyMatches}
            aria-pressed={onlyMatches}
            icon={<FilterOutlined />}
            onClick={() => set({ only: onlyMatches ? "" : "1" })}
          />
        </Tooltip>
      </span>
      <Outcome session={session} />
    </div>
  );
}

/** What is in the field; the URL, and with it the search, follows when one has stopped typing. */
function useTyped({ query, set }: LogsView): [string, (text: string) => void] {
  const [typed, setTyped] = useState(query.text);
  const [from, setFrom] = useState(query.text);
  // Another link, or the browser's Back.
  if (from !== query.text) {
    setFrom(query.text);
    setTyped(query.text);
  }
  useEffect(() => {
    if (typed === query.text) return undefined;
    const timer = setTimeout(() => set({ q: typed }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, query.text, set]);
  return [typed, setTyped];
}

interface MiniProps {
  on: boolean;
  name: string;
  onChange: (on: string) => void;
  children: string;
}

function Mini({ on, name, onChange, children }: MiniProps): ReactNode {
  return (
    <Tooltip title={name}>
      <button
        type="button"
        className="logs-mini"
        aria-label={name}
        aria-pressed={on}
        onClick={() => onChange(on ? "" : "1")}
      >
        {children}
      </button>
    </Tooltip>
  );
}

interface StepProps {
  session: LogSession;
  direction: 1 | -1;
  name: string;
  icon: ReactNode;
}

function Step({ session, direction, name, icon }: StepProps): ReactNode {
  return (
    <Tooltip title={name}>
      <Button
        aria-label={name}
        icon={icon}
        disabled={session.search.hits.length === 0}
        onClick={() => session.goToMatch(direction)}
      />
    </Tooltip>
  );
}

function Outcome({ session }: { session: LogSession }): ReactNode {
  const { t, format } = useText();
  const announce = useAnnounce();
  const { search, current } = session;
  const count = search.hits.length;
  const done = search.progress >= 1;
  const at = current !== undefined && search.hits.has(current) ? search.hits.place(current) : -1;
  const text = outcomeText();
  function outcomeText(): string {
    if (search.problem?.kind === "slow") return t.logs.slow;
    if (search.problem) return t.logs.invalid(search.problem.message);
    if (!search.active) return "";
    if (!done) return t.logs.searching(format.percent(Math.floor(search.progress * 100)));
    if (count === 0) return t.logs.noMatch;
    if (at < 0) return t.logs.matches(count);
    return t.logs.matchOf(format.number(at + 1), format.number(count));
  }
  const { text: asked } = search.query;
  // While lines are being written the count changes without end: it is said once.
  useEffect(() => {
    if (done && asked !== "") announce(text);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only for another search
  }, [done, asked, announce]);
  return (
    <span className={search.problem ? "logs-outcome logs-outcome-bad" : "logs-outcome numeric"}>
      {text}
    </span>
  );
}
