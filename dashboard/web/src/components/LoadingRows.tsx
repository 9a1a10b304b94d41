// Where a page's content will be.

import { Skeleton } from "antd";
import type { ReactNode } from "react";
import { useText } from "../i18n";

const ROWS = 8;

/** label: what is loaded. */
export function LoadingRows(props: { label?: string; rows?: number }): ReactNode {
  const { t } = useText();
  const { label = t.common.loading, rows = ROWS } = props;
  return (
    <div role="status" aria-label={label}>
      <Skeleton active title={false} paragraph={{ rows, width: "100%" }} />
    </div>
  );
}
