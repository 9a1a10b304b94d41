// How many lines there are, whether more come, and what is missing at the beginning.

import { VerticalAlignBottomOutlined } from "@ant-design/icons";
import { Button } from "antd";
import type { ReactNode } from "react";
import { Glyph } from "../../components/Glyph";
import { useText } from "../../i18n";
import { copyLines } from "./copy";
import type { LogSession } from "./session";
import type { LogsView } from "./use_logs_view";

export function StatusLine({ view, session }: { view: LogsView; session: LogSession }): ReactNode {
  const { t, format } = useText();
  const { store, unread } = session;
  const { tail } = view.options;
  return (
    <div className="logs-status">
      <Phase session={session} />
      {session.feed.cut && (
        <span className="logs-status-tail">
          <span className="logs-wide">{t.logs.truncated(format.number(tail))}</span>
          <Button type="link" size="small" onClick={() => view.set({ tail: "0" })}>
            {t.logs.loadAll}
          </Button>
        </span>
      )}
      {store.dropped > 0 && (
        <span className="logs-status-dropped">{t.logs.dropped(format.number(store.dropped))}</span>
      )}
      <Selected session={session} />
      {!session.atEnd && (
        <Button
          className="logs-to-end"
          size="small"
          type={unread > 0 ? "primary" : "default"}
          icon={<VerticalAlignBottomOutlined />}
          aria-label={unread > 0 ? t.logs.newLines(format.number(unread)) : t.logs.toEnd}
          title={t.logs.toEnd}
          onClick={() => session.toEnd()}
        >
          {unread > 0 ? t.logs.newLines(format.number(unread)) : null}
        </Button>
      )}
    </div>
  );
}

function Phase({ session }: { session: LogSession }): ReactNode {
  const { t, format } = useText();
  const { status } = session.feed;
  const count = format.number(session.store.length);
  if (status.phase === "waiting") {
    return (
      <span className="logs-phase logs-phase-waiting" title={status.error.message}>
        <Glyph name="warning" /> {t.logs.waiting} · {t.logs.count(count)}
      </span>
    );
  }
  if (status.phase === "loading") {
    return <span className="logs-phase numeric">{t.logs.loading(count)}</span>;
  }
  if (status.phase === "failed") return <span className="logs-phase">{t.logs.count(count)}</span>;
  // What begins in the middle is not complete.
  const ended = session.feed.cut ? t.logs.loaded : t.logs.ended;
  const words = { live: t.logs.live, ended, stopped: t.logs.stopped };
  return (
    <span className="logs-phase numeric">
      <Glyph
        name={status.phase === "live" ? "running" : status.phase === "ended" ? "ok" : "suspended"}
        tone={status.phase === "live" ? "accent" : "muted"}
      />{" "}
      {words[status.phase]} · {t.logs.count(count)}
    </span>
  );
}

function Selected({ session }: { session: LogSession }): ReactNode {
  const { t, format } = useText();
  if (!session.selection) return null;
  const count = session.selectedCount();
  return (
    <span className="logs-selected-tools">
      <Button size="small" onClick={() => void copyLines(session)}>
        {t.logs.copyLines(format.number(count))}
      </Button>
      <Button size="small" type="text" onClick={() => session.unselect()}>
        {t.logs.unselect}
      </Button>
    </span>
  );
}
