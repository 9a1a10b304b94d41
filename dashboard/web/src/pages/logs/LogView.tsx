// The window on the lines: draws those that show, wherever one is among a million.
//
// The lines lie in a layer that sticks to the window, so that they are never blank while the
// browser scrolls ahead of us; see scroll.ts for what the scroll bar means.

import type { CSSProperties, ReactNode } from "react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useCell } from "../../api/cell";
import { useText } from "../../i18n";
import type { TimeMode } from "./line_time";
import { LogRow } from "./LogRow";
import { LogWindow } from "./log_window";
import { ROW_HEIGHT } from "./scroll";
import type { LogSession } from "./session";

interface Props {
  session: LogSession;
  wrap: boolean;
  times: TimeMode;
  start: number;
  /** The job rests: it has no pods, and lines come when it is resumed. */
  suspended: boolean;
}

export function LogView({ session, wrap, times, start, suspended }: Props): ReactNode {
  const { t } = useText();
  const elementRef = useRef<HTMLDivElement>(null);
  const windowRef = useRef<LogWindow>(undefined);
  const revision = useCell(session.revision);
  useLayoutEffect(() => {
    if (!elementRef.current) return undefined;
    const made = new LogWindow(session, elementRef.current);
    windowRef.current = made;
    return () => made.close();
  }, [session]);
  useLayoutEffect(() => session.setWrap(wrap), [session, wrap]);
  useLayoutEffect(() => windowRef.current?.drawn(), [revision]);
  useLayoutEffect(() => windowRef.current?.restyled(), [wrap, times]);
  const { geometry, scroll, store, search } = session;
  const { rows } = geometry;
  const { from, to, top } = scroll.window(geometry);
  const visible = [];
  for (let row = from; row < to; row += 1) visible.push(rows.line(row));
  const height = scroll.total(geometry);
  const atEnd = session.atEnd && rows.length * ROW_HEIGHT >= geometry.viewport;
  return (
    <div
      ref={elementRef}
      className={`logs-view ${wrap ? "logs-wrap" : "logs-nowrap"}`}
      role="log"
      aria-label={t.logs.region}
      aria-live={useSlow(session) ? "polite" : "off"}
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight } }) =>
        session.onScroll(scrollTop, height - clientHeight)
      }
      style={{ "--logs-name-width": `${nameWidth(store.replicas)}ch` } as CSSProperties}
    >
      <div className="logs-canvas" style={{ height }}>
        <div
          className={atEnd ? "logs-layer logs-layer-end" : "logs-layer"}
          style={{ height: geometry.viewport }}
        >
          <div style={atEnd ? undefined : { transform: `translateY(${top}px)` }}>
            {visible.map((line) => (
              <LogRow
                key={line}
                store={store}
                index={line}
                times={times}
                start={times === "relative" ? start : 0}
                expression={search.expression}
                selected={session.isSelected(line)}
                current={session.current === line}
              />
            ))}
          </div>
        </div>
      </div>
      {rows.length === 0 && <Nothing session={session} suspended={suspended} />}
    </div>
  );
}

function Nothing({ session, suspended }: Pick<Props, "session" | "suspended">): ReactNode {
  const { t } = useText();
  const { phase } = session.feed.status;
  const over = phase === "ended" || phase === "stopped";
  const none = suspended ? t.logs.noPods : over ? t.logs.noLines : t.logs.noLinesYet;
  return (
    <p className="logs-nothing">
      {session.store.length > 0 ? t.logs.noneMatch : phase === "loading" ? t.common.loading : none}
    </p>
  );
}

// Names of roles are short, but indexes grow.
function nameWidth(replicas: readonly string[]): number {
  return Math.min(20, Math.max(6, ...replicas.map((name) => name.length)));
}

// Lines in a second that a screen reader can read out as they come.
const SPOKEN_LINES = 2;
const SPOKEN_MS = 1_000;

/** Few lines come, and one is where they come. */
function useSlow(session: LogSession): boolean {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    let before = session.store.end;
    const timer = setInterval(() => {
      const came = session.store.end - before;
      before = session.store.end;
      setSlow(session.feed.status.phase === "live" && session.atEnd && came <= SPOKEN_LINES);
    }, SPOKEN_MS);
    return () => clearInterval(timer);
  }, [session]);
  return slow;
}
