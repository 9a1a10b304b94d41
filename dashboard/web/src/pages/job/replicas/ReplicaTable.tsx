// The replicas as a table: sortable, and what the squares show for whoever reads rather than looks.

import type { TableProps } from "antd";
import { Table } from "antd";
import type { ReactNode } from "react";
import { useMemo } from "react";
import type { Replica } from "../../../api/types";
import { Age } from "../../../components/Age";
import { HealthTag, StateTag } from "../../../components/Tags";
import { useText } from "../../../i18n";
import type { Texts } from "../../../i18n/en";
import { Said } from "../../../i18n/said";
import { replicaName } from "../names";
import { whyOf } from "./square_label";

type Columns = NonNullable<TableProps<Replica>["columns"]>;

// A page of plain rows: what a browser draws at once.
const PAGE = 50;
const SEVERITY = { ok: 0, warning: 1, critical: 2 };

const byText = (of: (replica: Replica) => string | undefined) => (a: Replica, b: Replica) =>
  (of(a) ?? "").localeCompare(of(b) ?? "", "en", { numeric: true });
const byNumber = (of: (replica: Replica) => number | undefined) => (a: Replica, b: Replica) =>
  (of(a) ?? -1) - (of(b) ?? -1);

function columnsOf(t: Texts, onReplica: (name: string) => void): Columns {
  const words = t.job.columns;
  return [
    {
      title: words.replica,
      key: "replica",
      fixed: "start",
      sorter: byText(replicaName),
      render: (_, replica) => (
        <button
          type="button"
          className="job-inline-link job-nowrap"
          onClick={() => onReplica(replicaName(replica))}
        >
          {replicaName(replica)}
        </button>
      ),
    },
    {
      title: words.health,
      key: "health",
      sorter: byNumber(({ health }) => SEVERITY[health]),
      // One that does not exist is neither well nor ill.
      render: (_, { state, health, healthReason }) =>
        (state === "Missing" || state === "Removed") && health === "ok" ? (
          "—"
        ) : (
          <HealthTag health={health} reason={healthReason} />
        ),
    },
    {
      title: words.state,
      key: "state",
      sorter: byText(({ state }) => state),
      render: (_, { state }) => <StateTag state={state} />,
    },
    {
      title: words.why,
      key: "why",
      render: (_, replica) => <Said className="job-cell-why" text={whyOf(replica, t)} />,
    },
    ...textColumns(t),
  ];
}

function textColumns(t: Texts): Columns {
  const words = t.job.columns;
  const number = (key: "restarts" | "podNumber" | "attempt" | "exitCode" | "gpus") => ({
    title: words[key],
    key,
    align: "end" as const,
    className: "numeric",
    sorter: byNumber((replica) => replica[key]),
    render: (_: unknown, replica: Replica) => replica[key] ?? "",
  });
  const text = (key: "pod" | "node" | "ip") => ({
    title: words[key],
    key,
    sorter: byText((replica: Replica) => replica[key]),
    render: (_: unknown, replica: Replica) => (
      <bdi className="job-nowrap">{replica[key] ?? ""}</bdi>
    ),
  });
  return [
    text("node"),
    number("gpus"),
    number("restarts"),
    number("exitCode"),
    number("podNumber"),
    number("attempt"),
    {
      title: words.age,
      key: "age",
      align: "end",
      // The younger, the less.
      sorter: (a, b) => byText(({ created }: Replica) => created)(b, a),
      render: (_, { created, finished }) => <Age since={created} until={finished} />,
    },
    text("pod"),
    text("ip"),
  ];
}

interface Props {
  replicas: readonly Replica[];
  onReplica: (name: string) => void;
}

export function ReplicaTable({ replicas, onReplica }: Props): ReactNode {
  const { t } = useText();
  const columns = useMemo(() => columnsOf(t, onReplica), [t, onReplica]);
  return (
    <Table<Replica>
      className="job-table"
      size="small"
      columns={columns}
      dataSource={replicas}
      rowKey={replicaName}
      scroll={{ x: "max-content" }}
      pagination={{ defaultPageSize: PAGE, hideOnSinglePage: true, showSizeChanger: true }}
      locale={{ emptyText: t.job.noneMarked }}
    />
  );
}
