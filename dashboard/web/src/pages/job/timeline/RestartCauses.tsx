// How often what has restarted replicas.

import type { ReactNode } from "react";
import { useId } from "react";
import { useText, wordFor } from "../../../i18n";

export function RestartCauses({ causes }: { causes: Record<string, number> }): ReactNode {
  const { t, format } = useText();
  const id = useId();
  const some = Object.entries(causes).filter(([, count]) => count > 0);
  if (some.length === 0) return null;
  some.sort(([, a], [, b]) => b - a);
  return (
    <div className="job-causes">
      <span id={id}>{t.job.causes}</span>
      <dl aria-labelledby={id}>
        {some.map(([cause, count]) => (
          <div key={cause}>
            <dt>{wordFor(t.job.cause, cause)}</dt>
            <dd className="numeric">{format.number(count)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
