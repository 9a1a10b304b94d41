// Asks how many workers a job shall have, and says what that does.

import type { InputRef } from "antd";
import { Input, Modal } from "antd";
import type { ReactNode, RefObject } from "react";
import { useId, useRef, useState } from "react";
import type { JobDetail } from "../../../api/types";
import { useText } from "../../../i18n";
import { leastWorkers, mostWorkers, scaleProblem } from "./scale";
import { workersOf } from "./use_job_changes";

interface Props {
  job: JobDetail;
  open: boolean;
  onClose: () => void;
  onScale: (workers: number) => void;
}

export function ScaleDialog(props: Props): ReactNode {
  const { job, open, onClose, onScale } = props;
  const { t } = useText();
  const input = useRef<InputRef>(null);
  const [typed, setTyped] = useState<string>();
  const text = typed ?? String(workersOf(job));
  const problem = scaleProblem(text, job);
  const close = (): void => {
    setTyped(undefined);
    onClose();
  };
  const scale = (): void => {
    if (problem) return;
    onScale(Number(text));
    close();
  };
  return (
    <Modal
      open={open}
      title={<bdi>{t.job.scaleTitle(job.name)}</bdi>}
      okText={t.job.scale}
      okButtonProps={{ disabled: problem !== undefined }}
      cancelText={t.common.cancel}
      onOk={scale}
      onCancel={close}
      // The cursor of a number cannot be set, but the number can be selected.
      afterOpenChange={(shown) => shown && input.current?.select()}
      destroyOnHidden
      closable={{ "aria-label": t.common.close }}
    >
      <WorkersField job={job} text={text} onText={setTyped} onEnter={scale} input={input} />
    </Modal>
  );
}

interface FieldProps {
  job: JobDetail;
  text: string;
  onText: (text: string) => void;
  onEnter: () => void;
  input: RefObject<InputRef | null>;
}

function WorkersField({ job, text, onText, onEnter, input }: FieldProps): ReactNode {
  const { t } = useText();
  const id = useId();
  const problem = scaleProblem(text, job);
  const [least, most] = [leastWorkers(job), mostWorkers(job)];
  const words = t.job.scaleProblem;
  // That it is the present number is no fault of who has only opened the dialog.
  const wrong = problem === "number" || problem === "range";
  return (
    <div className="job-scale">
      <label htmlFor={id}>{t.job.scaleLabel}</label>
      <div className="job-scale-line">
        <Input
          id={id}
          ref={input}
          type="number"
          min={least}
          max={most}
          step={1}
          value={text}
          status={wrong ? "error" : ""}
          aria-invalid={wrong}
          aria-describedby={`${id}-said`}
          onChange={(event) => onText(event.target.value)}
          onPressEnter={onEnter}
        />
        <span className="muted">{t.job.scaleNow(workersOf(job))}</span>
      </div>
      <p id={`${id}-said`} className={wrong ? "job-scale-wrong" : "muted"} aria-live="polite">
        {problem === "number" && words.number}
        {problem === "range" && words.range(least, most)}
        {problem === "same" && words.same}
        {!problem && <Effect job={job} workers={Number(text)} />}
      </p>
    </div>
  );
}

function Effect({ job, workers }: { job: JobDetail; workers: number }): ReactNode {
  const { t } = useText();
  const now = workersOf(job);
  if (workers < now) return t.job.scaleLess(`worker-${workers}`, `worker-${now - 1}`);
  const gpus = job.replicas.find(({ role }) => role === "worker")?.gpus ?? 0;
  return t.job.scaleMore(workers - now, gpus * (workers - now));
}
