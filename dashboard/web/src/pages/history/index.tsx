// Jobs that are gone: all of them, or one.

import { Alert } from "antd";
import type { ReactNode } from "react";
import { useParams } from "react-router";
import { useSession } from "../../app/session";
import { PageHeader } from "../../components/PageHeader";
import { CopyButton } from "../../components/CopyButton";
import { useText } from "../../i18n";
import { HistoryJob } from "./HistoryJob";
import { HistoryTable } from "./HistoryTable";
import "./history.css";

// The switches of whoever runs the dashboard.
const PROGRAM =
  "taas-operator dashboard --history-file=/var/lib/taas/history.db --history-days=30";
const CHART = "helm upgrade taas charts/taas --reuse-values --set dashboard.history.enabled=true";

export default function HistoryPage(): ReactNode {
  const { uid } = useParams();
  const { historyDays } = useSession();
  if (historyDays === 0) return <HistoryOff />;
  return uid === undefined ? <HistoryTable /> : <HistoryJob key={uid} uid={uid} />;
}

function HistoryOff(): ReactNode {
  const { t } = useText();
  const ways = [
    { who: t.history.offProgram, how: PROGRAM },
    { who: t.history.offChart, how: CHART },
  ];
  return (
    <>
      <PageHeader title={t.history.title} />
      <Alert
        type="info"
        showIcon
        title={t.history.offTitle}
        description={
          <>
            <p>{t.history.offText}</p>
            <dl className="history-ways">
              {ways.map(({ who, how }) => (
                <div key={how}>
                  <dt>{who}</dt>
                  <dd className="code-line">
                    <code>{how}</code>
                    <CopyButton text={how} />
                  </dd>
                </div>
              ))}
            </dl>
          </>
        }
      />
    </>
  );
}
