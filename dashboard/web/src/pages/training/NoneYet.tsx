// Instead of charts that there are none of: what a job must do to have some.

import { Empty } from "antd";
import type { ReactNode } from "react";
import type { JobKind } from "../../api/types";

interface Props {
  kind: JobKind;
  words: { noneText: string; noneNext: string; noneOwn: string; noneTfJob: string };
  /** Nothing more comes. */
  over: boolean;
  /** What comes first: the heading, and what the server says. */
  children: ReactNode;
}

export function NoneYet({ kind, words, over, children }: Props): ReactNode {
  return (
    <Empty
      className="training-empty"
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={
        <>
          {children}
          {kind === "TFJob" ? (
            <p>{words.noneTfJob}</p>
          ) : (
            <>
              <p>
                {words.noneText} {!over && words.noneNext}
              </p>
              <p className="muted">{words.noneOwn}</p>
            </>
          )}
        </>
      }
    />
  );
}
