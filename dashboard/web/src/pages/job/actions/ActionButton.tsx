// A button that, where it is disabled, says why: to the pointer, to the keyboard and to screen
// readers. It keeps its place in the order of the tab key, or nobody could hear the reason.

import { Button, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useId } from "react";

interface Props {
  text: string;
  icon: ReactNode;
  /** Why it is disabled; undefined: it is not. */
  why: string | undefined;
  /** The change is on its way. */
  busy?: boolean;
  danger?: boolean;
  onClick: () => void;
}

export function ActionButton(props: Props): ReactNode {
  const { text, icon, why, busy = false, danger = false, onClick } = props;
  const id = useId();
  const off = why !== undefined;
  return (
    <>
      <Tooltip title={why} trigger={["hover", "focus"]}>
        <Button
          icon={icon}
          loading={busy}
          danger={danger && !off}
          // Without it the picture's own English name is part of the button's.
          aria-label={text}
          aria-disabled={off}
          aria-busy={busy}
          aria-describedby={off ? id : undefined}
          className={off ? "job-off" : undefined}
          onClick={off || busy ? undefined : onClick}
        >
          {text}
        </Button>
      </Tooltip>
      {off && (
        <span id={id} className="visually-hidden">
          {why}
        </span>
      )}
    </>
  );
}
