// "ps 2/2 · worker 3/4": how many of each role are ready, as `kubectl get` and `taas get` count
// them: one that has ended well is ready no more, and is missed by nobody.

import type { ReactNode } from "react";
import { Fragment } from "react";
import type { RoleCount } from "../api/types";
import { useText, wordFor } from "../i18n";

/** What is wrong is seen where there is no room for all of them. */
function worstFirst(roles: readonly RoleCount[]): RoleCount[] {
  const place = ({ failed, ready, succeeded, desired }: RoleCount): number =>
    failed > 0 ? 0 : ready + succeeded < desired ? 1 : 2;
  return roles.toSorted((a, b) => place(a) - place(b));
}

export function RolesSummary({ roles }: { roles: readonly RoleCount[] }): ReactNode {
  const { t } = useText();
  if (roles.length === 0) return "—";
  const all = roles.map((of) => {
    const word = wordFor(t.common.role, of.role);
    const count = `${word} ${of.ready}/${of.desired}`;
    return of.succeeded > 0 ? `${count} (${t.common.endedWell(of.succeeded)})` : count;
  });
  return (
    <span className="roles numeric" title={all.join(" · ")}>
      {worstFirst(roles).map(({ role, desired, ready, succeeded, failed }, index) => {
        const short = ready + succeeded < desired;
        const tone = failed > 0 ? " roles-failed" : short ? " roles-short" : "";
        return (
          <Fragment key={role}>
            {index > 0 && <span className="roles-dot"> · </span>}
            <span className="roles-one">
              {wordFor(t.common.role, role)}{" "}
              <b className={`roles-count${tone}`}>
                {ready}/{desired}
              </b>
            </span>
          </Fragment>
        );
      })}
    </span>
  );
}
