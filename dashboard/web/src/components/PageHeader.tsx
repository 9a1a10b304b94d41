// The top of every page: its one <h1>, what belongs to it, and actions. Sets the tab's title.

import type { ReactNode } from "react";
import { useEffect } from "react";
import { useText } from "../i18n";

interface Props {
  title: string;
  /** Beside the title: tags, a count. */
  extra?: ReactNode;
  actions?: ReactNode;
  /** Above the title: where one is. */
  trail?: ReactNode;
}

export function PageHeader({ title, extra, actions, trail }: Props): ReactNode {
  const { t } = useText();
  useEffect(() => {
    document.title = `${title} · ${t.common.product}`;
  }, [title, t]);
  return (
    <div className="page-header">
      {trail && <div className="page-trail">{trail}</div>}
      <div className="page-title">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {extra}
      </div>
      {actions && <div className="page-actions">{actions}</div>}
    </div>
  );
}
