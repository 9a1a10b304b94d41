// Puts another manifest in the place of the one that is there; asks before it takes away what was
// written.

import { App } from "antd";
import { useText } from "../../../i18n";
import type { Draft } from "../state/draft";
import { isTouched, newDraft } from "../state/draft";
import { readFile } from "./read_file";

export interface Replace {
  draft: (next: Draft) => void;
  file: (file: File) => Promise<void>;
  files: (files: FileList) => void;
}

export function useReplace(now: Draft, start: (draft: Draft) => void): Replace {
  const { t } = useText();
  const { modal, message } = App.useApp();
  const words = t.submit.picker;
  const draft = (next: Draft): void => {
    if (!isTouched(now)) return start(next);
    modal.confirm({
      title: words.replaceTitle,
      content: words.replaceText,
      okText: words.replace,
      cancelText: t.common.cancel,
      onOk: () => start(next),
    });
  };
  const file = async (chosen: File): Promise<void> => {
    const read = await readFile(chosen);
    if ("problem" in read) void message.error(words[read.problem](chosen.name));
    else draft(newDraft(read.text, { from: "file", name: chosen.name }));
  };
  const files = (list: FileList): void => {
    const [first, second] = list;
    if (second) void message.warning(words.severalFiles);
    if (first) void file(first);
  };
  return { draft, file, files };
}
