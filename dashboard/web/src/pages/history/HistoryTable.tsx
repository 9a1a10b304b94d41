// All jobs that have ended or were deleted, newest first, a page at a time.

import type { TableProps } from "antd";
import { Alert, Button, Empty, Table } from "antd";
import type { ReactNode } from "react";
import { useCallback, useMemo } from "react";
import { Link, useSearchParams } from "react-router";
import { useHistory } from "../../api/queries";
import type { HistoryRow as Row } from "../../api/types";
import { useKeepNamespace, useNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { ErrorPanel } from "../../components/ErrorPanel";
import { LoadingRows } from "../../components/LoadingRows";
import { PageHeader } from "../../components/PageHeader";
import { SearchBox } from "../../components/SearchBox";
import { StateTag } from "../../components/Tags";
import type { Text } from "../../i18n";
import { useText } from "../../i18n";
import { Said } from "../../i18n/said";
import { briefOf } from "../job/headline";

export function HistoryTable(): ReactNode {
  const { t } = useText();
  const { historyDays } = useSession();
  const [namespace] = useNamespace();
  const [text, setText] = useSearched();
  const filter = useMemo(
    () => ({ namespace: namespace || undefined, text: text.trim() || undefined }),
    [namespace, text],
  );
  const history = useHistory(filter);
  const { data, error, isPending, isFetchingNextPage, hasNextPage } = history;
  const trouble = data?.pages[0]?.message;
  const rows = useMemo(() => distinct(data?.pages.flatMap((page) => page.jobs) ?? []), [data]);
  return (
    <>
      <PageHeader
        title={t.history.title}
        extra={<span className="muted">{t.history.intro(historyDays)}</span>}
      />
      <search>
        <SearchBox
          className="history-search"
          label={t.history.search}
          text={text}
          onText={setText}
        />
      </search>
      {error && (
        <ErrorPanel
          error={error}
          title={t.history.unreadable}
          onRetry={() => void (data ? history.fetchNextPage() : history.refetch())}
        />
      )}
      {trouble !== undefined && (
        <Alert type="warning" showIcon className="history-mark" title={<bdi>{trouble}</bdi>} />
      )}
      {isPending && <LoadingRows />}
      {data && rows.length === 0 && (
        <Nothing namespace={namespace} text={text} onClear={() => setText("")} />
      )}
      {rows.length > 0 && <Rows rows={rows} />}
      {hasNextPage && (
        <Button
          className="history-more"
          loading={isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          {t.history.more}
        </Button>
      )}
    </>
  );
}

/** What is searched for, kept in the URL as ?q=. */
function useSearched(): [text: string, setText: (text: string) => void] {
  const [search, setSearch] = useSearchParams();
  const setText = useCallback(
    (text: string) =>
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          if (text === "") after.delete("q");
          else after.set("q", text);
          return after;
        },
        { replace: true },
      ),
    [setSearch],
  );
  return [search.get("q") ?? "", setText];
}

/** A job that changes while one pages may come on two pages; the newer page counts. */
function distinct(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.uid, row])).values()];
}

function Rows({ rows }: { rows: Row[] }): ReactNode {
  const text = useText();
  const keep = useKeepNamespace();
  const columns = useMemo(() => columnsOf(text, keep), [text, keep]);
  return (
    <Table<Row>
      className="history-table"
      size="small"
      columns={columns}
      dataSource={rows}
      rowKey="uid"
      pagination={false}
      scroll={{ x: "max-content" }}
    />
  );
}

function Nothing(props: { namespace: string; text: string; onClear: () => void }): ReactNode {
  const { namespace, text, onClear } = props;
  const { t } = useText();
  const words = t.history;
  const usual = namespace === "" ? words.empty : words.emptyIn(namespace);
  const said = text === "" ? usual : words.noMatch;
  return (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={<bdi>{said}</bdi>}>
      {text !== "" && <Button onClick={onClear}>{words.clear}</Button>}
    </Empty>
  );
}

// Columns that a phone leaves out: a job's own page has all of them.
const WIDE = "history-wide";

type Keep = ReturnType<typeof useKeepNamespace>;

function columnsOf({ t, format }: Text, keep: Keep): NonNullable<TableProps<Row>["columns"]> {
  const words = t.history.columns;
  return [
    {
      title: words.name,
      key: "name",
      render: (_, row) => <Name row={row} keep={keep} />,
    },
    {
      title: words.state,
      key: "state",
      render: (_, { state }) => <StateTag state={state} />,
    },
    {
      title: words.message,
      key: "message",
      className: WIDE,
      render: (_, { message }) => <Said className="history-message" text={briefOf(message)} />,
    },
    {
      title: words.namespace,
      key: "ns",
      className: WIDE,
      render: (_, row) => <bdi>{row.namespace}</bdi>,
    },
    { title: words.kind, key: "kind", className: WIDE, dataIndex: "kind" },
    {
      title: words.ended,
      key: "ended",
      className: "numeric history-nowrap",
      render: (_, { finished }) => finished && format.dateTime(finished),
    },
    {
      title: words.ran,
      key: "ran",
      className: `numeric history-nowrap ${WIDE}`,
      render: (_, row) => ranFor(row, format),
    },
    {
      title: words.restarts,
      key: "restarts",
      className: `numeric ${WIDE}`,
      align: "end",
      render: (_, { restarts }) => format.number(restarts),
    },
    {
      title: words.owner,
      key: "owner",
      className: WIDE,
      render: (_, { owner }) => owner && <bdi>{owner}</bdi>,
    },
    {
      title: words.deleted,
      key: "deleted",
      className: `numeric history-nowrap ${WIDE}`,
      render: (_, { deleted }) =>
        deleted === undefined ? (
          <span className="muted">{t.history.stillThere}</span>
        ) : (
          format.dateTime(deleted)
        ),
    },
  ];
}

function Name({ row, keep }: { row: Row; keep: Keep }): ReactNode {
  return (
    <>
      <Link className="job-link" to={keep(`/history/${encodeURIComponent(row.uid)}`)}>
        <bdi>{row.name}</bdi>
      </Link>
      {/* A phone has no room for columns of them. */}
      <Said className="history-under" text={briefOf(row.message)} />
      <bdi className="history-under">{row.owner}</bdi>
    </>
  );
}

/** A job that was deleted while it ran ended with that. */
function ranFor({ started, finished, deleted }: Row, format: Text["format"]): string {
  const end = finished ?? deleted;
  if (started === undefined || end === undefined) return "—";
  return format.span((Date.parse(end) - Date.parse(started)) / 1000);
}
