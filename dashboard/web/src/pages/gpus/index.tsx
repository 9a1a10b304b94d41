// Which GPU of which node is held by which job, who waits for some, and where there is room.

import { AimOutlined } from "@ant-design/icons";
import { Alert, Button, Empty } from "antd";
import type { ReactNode } from "react";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import { useNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { LoadingRows } from "../../components/LoadingRows";
import { PageHeader } from "../../components/PageHeader";
import { useText } from "../../i18n";
import { Filters } from "./Filters";
import type { Wish } from "./finder";
import { Finder } from "./Finder";
import { GpuGrid } from "./GpuGrid";
import { GpuTable } from "./GpuTable";
import { JobBar } from "./JobBar";
import { JobKeys } from "./JobKeys";
import { Legend } from "./Legend";
import { Summary } from "./Summary";
import { totalsOf } from "./totals";
import type { LiveMap } from "./use_map";
import { useMap } from "./use_map";
import { useView } from "./use_view";
import { group, isAboutCells, show } from "./view";
import { Waiting } from "./Waiting";
import { readWish } from "./wish";
import "./gpus.css";
import "./map.css";
import "./card.css";
import "./table.css";

export default function GpusPage(): ReactNode {
  const { t } = useText();
  const live = useMap();
  const wish = readWish(useSearchParams()[0]);
  const [finding, setFinding] = useState(wish !== undefined);
  const canFind = live?.map.nodesVisible === true && live.nodes.length > 0;
  return (
    <div className="gpus-page">
      <PageHeader
        title={t.gpus.title}
        actions={
          canFind && (
            <Button
              icon={<AimOutlined aria-hidden="true" />}
              aria-expanded={finding}
              onClick={() => setFinding(!finding)}
            >
              {t.gpus.finder.open}
            </Button>
          )
        }
      />
      {live ? <Content live={live} finding={finding && canFind} wish={wish} /> : <LoadingRows />}
    </div>
  );
}

interface ContentProps {
  live: LiveMap;
  finding: boolean;
  wish: Wish | undefined;
}

function Content({ live, finding, wish }: ContentProps): ReactNode {
  const { t } = useText();
  const { map, nodes } = live;
  const { view, setView, clear } = useView();
  const [namespace] = useNamespace();
  const totals = useMemo(() => totalsOf(nodes), [nodes]);
  const shown = useMemo(() => show(nodes, view, namespace), [nodes, view, namespace]);
  const groups = useMemo(() => group(shown.nodes, view.group), [shown.nodes, view.group]);
  if (nodes.length === 0 && map.pending.length === 0 && !map.hiddenPending) {
    return <Nothing map={map} />;
  }
  const about = isAboutCells(view, namespace);
  const onJob = (job: string): void => setView({ job: job === view.job ? "" : job });
  return (
    <>
      {!map.nodesVisible && <Alert className="gpus-note" type="info" title={t.gpus.noNodes} />}
      <Summary map={map} totals={totals} view={view} setView={setView} />
      {finding && <Finder nodes={nodes} first={wish} onIdle={() => setView({ idle: true })} />}
      <Filters
        all={nodes}
        nodesVisible={map.nodesVisible}
        view={view}
        setView={setView}
        clear={clear}
      />
      {view.job !== "" && (
        <JobBar job={view.job} count={shown.matching} onAll={() => setView({ job: "" })} />
      )}
      {about && (
        <p className="gpus-matching numeric" role="status">
          {t.gpus.matching(shown.matching, shown.nodes.length)}
        </p>
      )}
      {shown.nodes.length === 0 && (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.gpus.noMatch} />
      )}
      {shown.nodes.length > 0 && view.table && (
        <GpuTable nodes={shown.nodes} matches={shown.matches} />
      )}
      {shown.nodes.length > 0 && !view.table && (
        <>
          <JobKeys map={map} job={view.job} onJob={onJob} />
          <Legend />
          <GpuGrid
            groups={groups}
            by={view.group}
            nodes={shown.nodes}
            matches={shown.matches}
            onJob={onJob}
          />
        </>
      )}
      <Waiting map={map} namespace={namespace} />
    </>
  );
}

function Nothing({ map }: { map: LiveMap["map"] }): ReactNode {
  const { t } = useText();
  const { gpuResource } = useSession();
  return (
    <Empty
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={
        map.nodesVisible ? (
          <>
            <p>{t.gpus.none}</p>
            <p className="muted">{t.gpus.noneHint(gpuResource)}</p>
          </>
        ) : (
          <>
            <p>{t.gpus.noneMine}</p>
            <p className="muted">{t.gpus.noNodes}</p>
          </>
        )
      }
    />
  );
}
