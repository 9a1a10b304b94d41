// Instead of the login: nobody shall type a token into a frame of another page.

import type { ReactNode } from "react";
import { useText } from "../../i18n";

export function EmbedLogin(): ReactNode {
  const { t } = useText();
  return (
    <p className="embed-say">
      {t.embed.login}{" "}
      <a href={new URL(".", document.baseURI).href} target="_blank" rel="noopener">
        {t.embed.openDashboard}
      </a>
    </p>
  );
}
