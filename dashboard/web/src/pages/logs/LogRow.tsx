// One line: when, who, what. Or a note of the server about a replica's log.

import type { ReactNode } from "react";
import { memo } from "react";
import { Glyph } from "../../components/Glyph";
import type { GlyphName } from "../../components/Glyph";
import type { Texts } from "../../i18n/en";
import { useText } from "../../i18n";
import { ansiSpans } from "./ansi";
import type { Range } from "./find";
import { marksIn } from "./find";
import type { TimeMode } from "./line_time";
import { timeText } from "./line_time";
import type { Line, LogStore } from "./log_store";
import { colourOfReplica } from "./replica_look";

interface Props {
  store: LogStore;
  /** Its number, by which the store knows it. */
  index: number;
  times: TimeMode;
  start: number;
  expression: RegExp | null;
  selected: boolean;
  current: boolean;
}

export const LogRow = memo(function LogRow(props: Props): ReactNode {
  const { store, index, times, start, expression, selected, current } = props;
  const { t } = useText();
  const line = store.line(index);
  if (!line) return null;
  const classes = [
    "logs-row",
    line.kind === "line" ? "" : `logs-note logs-note-${line.kind}`,
    selected ? "logs-selected" : "",
    current ? "logs-current" : "",
  ];
  return (
    <div className={classes.filter((name) => name !== "").join(" ")} data-line={index}>
      <span className="logs-gutter" title={fullTime(line.time)}>
        {times !== "off" && (
          <span className={`logs-time logs-time-${times}`}>
            {timeText(line.time, times, start)}
          </span>
        )}
        {line.replica !== "" && (
          <bdi className={`logs-name logs-colour-${colourOfReplica(line.replica)}`}>
            {line.replica}
          </bdi>
        )}
      </span>{" "}
      {line.kind === "line" ? (
        <bdi className="logs-text">{pieces(line, expression)}</bdi>
      ) : (
        <span className="logs-text">
          <Glyph name={GLYPHS[line.kind]} /> <bdi>{noteText(line, t)}</bdi>
        </span>
      )}
    </div>
  );
});

const GLYPHS: Record<Exclude<Line["kind"], "line">, GlyphName> = {
  begin: "running",
  end: "unknown",
  error: "warning",
};

function noteText({ kind, text, podNumber }: Line, t: Texts): string {
  if (kind === "error") return t.logs.error(text);
  if (kind === "end") return text === "" ? t.logs.end : t.logs.endOf(text);
  return podNumber === undefined ? t.logs.begin : t.logs.beginOf(String(podNumber));
}

function fullTime(time: number): string | undefined {
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** The text, cut where its colour changes and where a match begins or ends. */
function pieces({ raw, text }: Line, expression: RegExp | null): ReactNode {
  const marks = expression ? marksIn(expression, text) : [];
  if (raw === undefined && marks.length === 0) return text;
  const spans = raw === undefined ? [{ text, style: "" }] : ansiSpans(raw);
  const out: ReactNode[] = [];
  let at = 0;
  for (const span of spans) {
    for (const piece of cut(span.text, at, marks)) {
      const key = out.length;
      const className = span.style === "" ? undefined : span.style;
      out.push(
        piece.marked ? (
          <mark key={key} className={className}>
            {piece.text}
          </mark>
        ) : (
          <span key={key} className={className}>
            {piece.text}
          </span>
        ),
      );
    }
    at += span.text.length;
  }
  return out;
}

interface Piece {
  text: string;
  marked: boolean;
}

function cut(text: string, at: number, marks: readonly Range[]): Piece[] {
  const out: Piece[] = [];
  const end = at + text.length;
  let done = at;
  for (const { from, to } of marks) {
    if (to <= done) continue;
    if (from >= end) break;
    const begin = Math.max(from, done);
    if (begin > done) out.push({ text: text.slice(done - at, begin - at), marked: false });
    done = Math.min(to, end);
    out.push({ text: text.slice(begin - at, done - at), marked: true });
  }
  if (done < end) out.push({ text: text.slice(done - at), marked: false });
  return out;
}
