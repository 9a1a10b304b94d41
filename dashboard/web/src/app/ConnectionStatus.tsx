// Whether what is shown is the present: a mark in the header, and a banner when it is not.

import { Alert, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useConnection } from "../api/use_stream";
import { useText } from "../i18n";

export function ConnectionMark(): ReactNode {
  const { t } = useText();
  const { phase } = useConnection().status;
  // It keeps its place on a page without a stream, so that the header stays as it is.
  if (phase === "idle") {
    return (
      <span className="connection connection-idle" aria-hidden="true">
        <span className="connection-dot" />
        <span className="connection-word">{t.shell.phase.live}</span>
      </span>
    );
  }
  return (
    <Tooltip title={t.shell.phaseWhy[phase]}>
      <span className={`connection connection-${phase}`}>
        <span className="connection-dot" aria-hidden="true" />
        <span className="connection-word">{t.shell.phase[phase]}</span>
      </span>
    </Tooltip>
  );
}

export function ClusterBanner(): ReactNode {
  const { t, format } = useText();
  const { status, cluster } = useConnection();
  let text: string | undefined;
  if (status.phase === "offline") {
    const seen = status.lastByte > 0;
    text = seen ? t.shell.serverLost(format.time(status.lastByte)) : t.shell.neverSeen;
  } else if (cluster && !cluster.connected) {
    text = t.shell.clusterLost(format.time(cluster.since ?? cluster.now));
  }
  return (
    <div role="status" aria-live="polite">
      {text !== undefined && (
        <Alert
          banner
          type="warning"
          title={text}
          description={cluster?.connected === false ? cluster.message : undefined}
        />
      )}
    </div>
  );
}
