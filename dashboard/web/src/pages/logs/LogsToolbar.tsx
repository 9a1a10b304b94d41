// What to read, and how lines look.

import {
  ArrowDownOutlined,
  DownloadOutlined,
  EnterOutlined,
  HistoryOutlined,
} from "@ant-design/icons";
import { useMutation } from "@tanstack/react-query";
import { App, Button, Select, Tooltip } from "antd";
import type { ReactNode } from "react";
import type { JobRef } from "../../api/paths";
import { jobApi } from "../../api/paths";
import { asApiError } from "../../api/problem";
import { useServices } from "../../api/services";
import type { JobDetail } from "../../api/types";
import { useText } from "../../i18n";
import { download } from "../job/manifest/download";
import { TIME_MODES } from "./line_time";
import { ReplicaPicker } from "./ReplicaPicker";
import type { LogSession } from "./session";
import { TimeJump } from "./TimeJump";
import type { LogsView } from "./use_logs_view";
import { TAIL_DEFAULT, TAILS } from "./use_logs_view";

interface Props {
  job: JobRef;
  live: JobDetail | null | undefined;
  view: LogsView;
  session: LogSession;
}

export function LogsToolbar({ job, live, view, session }: Props): ReactNode {
  const { t, format } = useText();
  const { options, set, times, wrap } = view;
  return (
    <div className="logs-toolbar">
      <ReplicaPicker
        live={live}
        seen={session.store.replicas}
        chosen={options.replicas}
        onChange={(replica) => set({ replica })}
      />
      <span className="logs-buttons">
        <Toggle
          on={wrap}
          name={t.logs.wrap}
          word={t.logs.words.wrap}
          icon={<EnterOutlined />}
          onChange={(on) => set({ wrap: on ? "1" : "0" })}
        />
        <Toggle
          on={options.previous}
          name={t.logs.previous}
          word={t.logs.words.previous}
          hint={t.logs.previousHint}
          icon={<HistoryOutlined />}
          onChange={(on) => set({ previous: on ? "1" : "" })}
        />
        <TimeJump session={session} utc={times === "utc"} />
        <Download job={job} view={view} />
        <Toggle
          on={options.follow}
          name={t.logs.follow}
          word={t.logs.words.follow}
          icon={<ArrowDownOutlined />}
          disabled={options.previous}
          onChange={(on) => set({ follow: on ? "" : "0" })}
        />
      </span>
      <Select
        className="logs-tail"
        aria-label={t.logs.tail}
        value={options.tail}
        onChange={(tail) => set({ tail: tail === TAIL_DEFAULT ? "" : String(tail) })}
        options={TAILS.map((value) => ({
          value,
          label: value === 0 ? t.logs.tailAll : t.logs.tails(format.number(value)),
        }))}
      />
      <Select
        className="logs-times"
        aria-label={t.logs.times}
        value={times}
        onChange={(time) => set({ time })}
        options={TIME_MODES.map((value) => ({ value, label: t.logs.timeModes[value] }))}
      />
    </div>
  );
}

interface ToggleProps {
  on: boolean;
  name: string;
  /** What shows beside the icon where there is room. */
  word: string;
  hint?: string;
  icon: ReactNode;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}

function Toggle(props: ToggleProps): ReactNode {
  const { on, name, word, hint, icon, disabled = false, onChange } = props;
  return (
    <Tooltip title={hint ?? name}>
      <Button
        className="logs-toggle logs-worded"
        aria-label={name}
        aria-pressed={on}
        icon={icon}
        disabled={disabled}
        onClick={() => onChange(!on)}
      >
        <span className="logs-word">{word}</span>
      </Button>
    </Tooltip>
  );
}

/** Not a plain link: that would go without this page's half of the session. */
function Download({ job, view }: { job: JobRef; view: LogsView }): ReactNode {
  const { t } = useText();
  const { api } = useServices();
  const { message } = App.useApp();
  const { replicas, previous } = view.options;
  const reading = useMutation({
    mutationFn: async () => {
      const query = { download: 1, replica: replicas, previous: previous || undefined };
      const answer = await api.open(`${jobApi(job)}/logs`, { query });
      download(`${job.namespace}_${job.name}_logs.txt`, await answer.blob());
    },
    onError: (error) => {
      const problem = asApiError(error);
      void message.error(`${t.errors.title[problem.reason]}: ${problem.message}`);
    },
  });
  return (
    <Tooltip title={t.logs.download}>
      <Button
        className="logs-worded"
        aria-label={t.logs.download}
        icon={<DownloadOutlined />}
        loading={reading.isPending}
        onClick={() => reading.mutate()}
      >
        <span className="logs-word">{t.common.download}</span>
      </Button>
    </Tooltip>
  );
}
