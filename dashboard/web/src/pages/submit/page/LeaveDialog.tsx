// What becomes of the draft of somebody who leaves.

import { Button, Modal } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import type { Blocker } from "react-router";
import { useText } from "../../../i18n";

interface Props {
  blocker: Blocker;
  onDiscard: () => void;
}

export function LeaveDialog({ blocker, onDiscard }: Props): ReactNode {
  const { t } = useText();
  const words = t.submit.leave;
  // The page that one goes to may take a moment to load: until then this one stays, and the
  // question that was answered must not.
  const [answered, setAnswered] = useState<Blocker>();
  const stay = (): void => blocker.reset?.();
  const leave = (): void => {
    setAnswered(blocker);
    blocker.proceed?.();
  };
  return (
    <Modal
      open={blocker.state === "blocked" && blocker !== answered}
      title={words.title}
      onCancel={stay}
      footer={
        <div className="submit-leave">
          <Button
            danger
            onClick={() => {
              onDiscard();
              leave();
            }}
          >
            {words.discard}
          </Button>
          <Button onClick={stay}>{words.stay}</Button>
          <Button type="primary" onClick={leave}>
            {words.keep}
          </Button>
        </div>
      }
    >
      <p>{words.text}</p>
    </Modal>
  );
}
