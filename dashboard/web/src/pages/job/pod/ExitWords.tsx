// An exit code in words: of the replica's program what it says about the replica and what follows,
// of any other container the code alone.

import type { ReactNode } from "react";
import type { JobKind } from "../../../api/types";
import { useText } from "../../../i18n";
import { exitEffect, exitMeaning } from "./exit_code";

interface Props {
  code: number;
  reason?: string | undefined;
  kind: JobKind;
  program: boolean;
}

// Beside the code.
const SAYS_NOTHING = ["", "Error", "Completed"];

export function ExitWords({ code, reason, kind, program }: Props): ReactNode {
  const { t } = useText();
  return (
    <>
      <b className="numeric">{t.job.pod.exitCode(code)}</b>
      {reason !== undefined && !SAYS_NOTHING.includes(reason) && (
        <bdi>{t.job.pod.exitReason(reason)}</bdi>
      )}
      {program && (
        <>
          {t.job.pod.fullStop}
          {t.job.pod.meaning[exitMeaning(code, reason, kind)]}{" "}
          <span className="muted">{t.job.pod.effect[exitEffect(code, reason, kind)]}</span>
        </>
      )}
    </>
  );
}
