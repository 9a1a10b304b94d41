// From one sort of job to another: that is another manifest, so it is asked about.

import { App } from "antd";
import { useText } from "../../../i18n";
import type { Program } from "../model/roles";
import type { Draft } from "../state/draft";
import { isTouched } from "../state/draft";

export function useSwitchProgram(
  draft: Draft,
  change: (to: Program) => void,
): (to: Program) => void {
  const { t } = useText();
  const { modal } = App.useApp();
  const words = t.submit.program;
  return (to) => {
    if (!isTouched(draft)) return change(to);
    modal.confirm({
      title: words.switchTitle,
      content: words.switchText,
      okText: words.switchYes,
      cancelText: t.common.cancel,
      onOk: () => change(to),
    });
  };
}
