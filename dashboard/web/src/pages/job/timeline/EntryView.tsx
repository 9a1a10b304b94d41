// One thing that has happened.

import type { ReactNode } from "react";
import type { GlyphName } from "../../../components/Glyph";
import { Glyph } from "../../../components/Glyph";
import { useText, wordFor } from "../../../i18n";
import type { Texts } from "../../../i18n/en";
import { Said, SaidCode } from "../../../i18n/said";
import { isSaidIn } from "../headline";
import type { Entry, EntryKind } from "./entries";

const GLYPHS: Record<EntryKind, [GlyphName, string]> = {
  condition: ["ok", "accent"],
  warning: ["warning", "warning"],
  event: ["running", "muted"],
  restart: ["restarting", "warning"],
};

function glyphOf(entry: Entry): [GlyphName, string] {
  if (entry.kind === "condition" && entry.status === false) return ["unknown", "muted"];
  if (entry.kind === "condition" && entry.title === "Failed") return ["failed", "critical"];
  return GLYPHS[entry.kind];
}

function titleOf({ kind, title }: Entry, t: Texts): string {
  if (kind === "restart") return wordFor(t.job.cause, title);
  return kind === "condition" ? wordFor(t.job.condition, title) : title;
}

interface Props {
  entry: Entry;
  /** What stands at the top of the page: it is not said again. */
  headline?: string;
  onAbout: (() => void) | undefined;
}

export function EntryView({ entry, headline = "", onAbout }: Props): ReactNode {
  const { t, format } = useText();
  const [glyph, tone] = glyphOf(entry);
  const title = titleOf(entry, t);
  return (
    <li className={`job-entry job-entry-${entry.kind}`}>
      <time className="numeric" dateTime={entry.at} title={format.dateTime(entry.at)}>
        {format.time(entry.at)}
      </time>
      <Glyph name={glyph} tone={tone} />
      <div className="job-entry-text">
        <span className="visually-hidden">{t.job.kind[entry.kind]}: </span>
        <b>
          <SaidCode text={title} />
        </b>
        {entry.status === false && <span className="muted"> {t.job.notSo}</span>}{" "}
        <About entry={entry} onAbout={onAbout} />
        {entry.count > 1 && (
          <span className="job-count numeric">
            {t.job.times(entry.count)}
            {entry.since !== undefined && <> {t.job.since(format.time(entry.since))}</>}
          </span>
        )}
        {entry.restart && <RestartFacts entry={entry} />}
        {entry.message !== "" && (
          <div className="job-entry-message">
            {isSaidIn(headline, entry.message) ? (
              <span className="muted" title={entry.message}>
                {t.job.asAbove}
              </span>
            ) : (
              <Said text={entry.message} />
            )}
          </div>
        )}
      </div>
    </li>
  );
}

function About({ entry, onAbout }: Omit<Props, "headline">): ReactNode {
  if (entry.about === "job") return null;
  if (!onAbout) return <bdi className="job-about">{entry.about}</bdi>;
  return (
    <button type="button" className="job-inline-link" onClick={onAbout}>
      <bdi>{entry.about}</bdi>
    </button>
  );
}

function RestartFacts({ entry }: { entry: Entry }): ReactNode {
  const { t } = useText();
  const { restart } = entry;
  if (!restart) return null;
  return (
    <span className="muted">
      {" "}
      {t.job.restartOf(restart.podNumber, restart.attempt)}
      {restart.exitCode !== undefined && <> · {t.job.pod.exitCode(restart.exitCode)}</>}
      {restart.node !== "" && (
        <>
          {" · "}
          <bdi>{t.job.onNode(restart.node)}</bdi>
        </>
      )}
    </span>
  );
}
