// Health, state and role of a job or replica: always a picture and a word.

import type { ReactNode } from "react";
import { memo } from "react";
import type { Health, HealthReason, JobState, Replica, Role } from "../api/types";
import { useText, wordFor } from "../i18n";
import type { GlyphName } from "./Glyph";
import { Glyph } from "./Glyph";

const HEALTH_TONES: Record<Health, string> = {
  ok: "ok",
  warning: "warning",
  critical: "critical",
};

function isHealth(value: string): value is Health {
  return Object.hasOwn(HEALTH_TONES, value);
}

interface HealthProps {
  health: Health;
  reason?: HealthReason | undefined;
  /** This person knows it already. */
  seen?: boolean | undefined;
}

/** The reason is its title; where there is room, write it out beside. */
export const HealthTag = memo(function HealthTag(props: HealthProps): ReactNode {
  const { health, reason, seen } = props;
  const { t } = useText();
  const glyph: GlyphName = isHealth(health) ? health : "unknown";
  if (seen) {
    const what = reason ? wordFor(t.common.healthReason, reason) : wordFor(t.common.health, health);
    return (
      <span className="tag tag-unknown" title={t.common.seenOf(what)}>
        <Glyph name={glyph} />
        {t.common.seen}
      </span>
    );
  }
  return (
    <span
      className={`tag tag-${glyph}`}
      title={reason ? wordFor(t.common.healthReason, reason) : undefined}
    >
      <Glyph name={glyph} />
      {wordFor(t.common.health, health)}
    </span>
  );
});

const STATE_GLYPHS: Record<JobState | Replica["state"], [GlyphName, string]> = {
  Pending: ["pending", "muted"],
  Running: ["running", "accent"],
  Restarting: ["restarting", "warning"],
  Suspended: ["suspended", "muted"],
  Succeeded: ["succeeded", "ok"],
  Failed: ["failed", "critical"],
  Missing: ["unknown", "muted"],
  Removed: ["unknown", "muted"],
  Waiting: ["restarting", "warning"],
  Unknown: ["unknown", "warning"],
  Terminating: ["deleting", "muted"],
};

interface StateProps {
  state: JobState | Replica["state"];
  deleting?: boolean | undefined;
}

export const StateTag = memo(function StateTag({ state, deleting }: StateProps): ReactNode {
  const { t } = useText();
  const known = Object.hasOwn(STATE_GLYPHS, state);
  const [glyph, tone] = known ? STATE_GLYPHS[state] : (["unknown", "muted"] as const);
  const words: Record<string, string> = { ...t.common.replicaState, ...t.common.state };
  return (
    <span className="state">
      <Glyph name={deleting ? "deleting" : glyph} tone={deleting ? "muted" : tone} />
      {deleting ? t.common.deleting : wordFor(words, state)}
    </span>
  );
});

export function RoleBadge({ role, index }: { role: Role; index?: number }): ReactNode {
  const { t } = useText();
  const word = wordFor(t.common.role, role);
  return <span className="role-badge">{index === undefined ? word : `${word}-${index}`}</span>;
}
