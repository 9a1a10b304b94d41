// Goes to the first line at or after a time.

import { ClockCircleOutlined } from "@ant-design/icons";
import { Button, Input, Popover, Tooltip } from "antd";
import type { ReactNode, SubmitEvent } from "react";
import { useState } from "react";
import { useText } from "../../i18n";
import { fromInput, toInput } from "./line_time";
import type { LogSession } from "./session";

export function TimeJump({ session, utc }: { session: LogSession; utc: boolean }): ReactNode {
  const { t } = useText();
  const [open, setOpen] = useState(false);
  return (
    <Popover
      trigger="click"
      open={open}
      onOpenChange={setOpen}
      destroyOnHidden
      content={<JumpForm session={session} utc={utc} onDone={() => setOpen(false)} />}
    >
      <Tooltip title={open ? "" : t.logs.jump}>
        <Button className="logs-worded" aria-label={t.logs.jump} icon={<ClockCircleOutlined />}>
          <span className="logs-word">{t.logs.words.jump}</span>
        </Button>
      </Tooltip>
    </Popover>
  );
}

interface FormProps {
  session: LogSession;
  utc: boolean;
  onDone: () => void;
}

function JumpForm({ session, utc, onDone }: FormProps): ReactNode {
  const { t } = useText();
  const [value, setValue] = useState(() => timeOfPlace(session, utc));
  const [none, setNone] = useState(false);
  const go = (event: SubmitEvent): void => {
    event.preventDefault();
    const line = session.store.firstSince(fromInput(value, utc));
    setNone(line === undefined);
    if (line === undefined) return;
    session.goTo(line);
    onDone();
  };
  return (
    <form className="logs-jump" onSubmit={go}>
      <label htmlFor="logs-jump-time">
        {t.logs.jumpTo(utc ? t.logs.timeModes.utc : t.logs.localZone)}
      </label>
      <span className="logs-jump-field">
        <Input
          id="logs-jump-time"
          type="datetime-local"
          step={1}
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
        <Button htmlType="submit" type="primary">
          {t.logs.jumpGo}
        </Button>
      </span>
      {none && <p role="alert">{t.logs.jumpNone}</p>}
    </form>
  );
}

function timeOfPlace({ store, scroll }: LogSession, utc: boolean): string {
  const time = store.line(scroll.place?.line ?? store.end - 1)?.time ?? Number.NaN;
  return Number.isNaN(time) ? "" : toInput(time, utc);
}
