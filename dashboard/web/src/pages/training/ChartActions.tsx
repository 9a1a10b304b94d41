// What one does with a chart, at the end of its head: the same as a table, and as a file.

import { DownloadOutlined, TableOutlined } from "@ant-design/icons";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useText } from "../../i18n";
import { download } from "../job/manifest/download";
import { fileName } from "./csv";

interface Props {
  name: string;
  tag: string;
  table: boolean;
  onTable: (table: boolean) => void;
  /** Undefined: there is nothing yet. */
  csv: (() => string) | undefined;
  extra: ReactNode;
}

export function ChartActions({ name, tag, table, onTable, csv, extra }: Props): ReactNode {
  const { t } = useText();
  const words = t.training;
  return (
    <span className="curve-actions">
      <Button
        size="small"
        type="text"
        icon={<TableOutlined aria-hidden />}
        aria-label={words.asTableOf(name)}
        title={words.asTable}
        aria-pressed={table}
        onClick={() => onTable(!table)}
      />
      <Button
        size="small"
        type="text"
        icon={<DownloadOutlined aria-hidden />}
        aria-label={words.csvOf(name)}
        title={words.csv}
        disabled={csv === undefined}
        onClick={() => csv && download(fileName(tag), csv())}
      />
      {extra}
    </span>
  );
}
