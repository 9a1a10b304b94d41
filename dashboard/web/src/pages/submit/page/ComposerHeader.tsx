// The title, where the manifest comes from, and what can be done with it as a whole.

import { FileAddOutlined, FolderOpenOutlined } from "@ant-design/icons";
import { Button } from "antd";
import type { ReactNode } from "react";
import { useRef, useState } from "react";
import { PageHeader } from "../../../components/PageHeader";
import { useText } from "../../../i18n";
import type { Draft, Origin } from "../state/draft";
import { TemplatePicker, templateWords } from "./TemplatePicker";
import type { Judgement } from "./use_judgement";

interface Props {
  draft: Draft;
  judgement: Judgement;
  sending: boolean;
  onWhy: () => void;
  onSubmit: () => void;
  onTemplate: (id: string) => void;
  onFile: (files: FileList) => void;
}

export function ComposerHeader(props: Props): ReactNode {
  const { draft, judgement, sending, onWhy, onSubmit, onTemplate, onFile } = props;
  const { t } = useText();
  const [picking, setPicking] = useState(false);
  const template = draft.origin.from === "template" ? draft.origin.name : undefined;
  return (
    <>
      <PageHeader
        title={t.submit.title}
        extra={<OriginText origin={draft.origin} kind={judgement.kind} />}
        actions={
          <>
            <Button icon={<FileAddOutlined aria-hidden />} onClick={() => setPicking(true)}>
              {t.submit.templates}
            </Button>
            <FileButton onFile={onFile} />
            <SubmitButton
              blocked={judgement.blocked}
              onWhy={onWhy}
              sending={sending}
              onSubmit={onSubmit}
            />
          </>
        }
      />
      <TemplatePicker
        open={picking}
        current={template}
        onPick={({ id }) => {
          setPicking(false);
          onTemplate(id);
        }}
        onClose={() => setPicking(false)}
      />
    </>
  );
}

function OriginText({ origin, kind }: { origin: Origin; kind: string | undefined }): ReactNode {
  const { t } = useText();
  const words = t.submit;
  const from = {
    template: () => words.fromTemplate(templateWords(words.template, origin.name).title),
    file: () => words.fromFile(origin.name),
    clone: () => words.clonedFrom(origin.name),
    history: () => words.clonedFrom(origin.name),
  }[origin.from]();
  return (
    <span className="muted">
      {kind && <span className="mono submit-kind">{kind}</span>} <bdi>{from}</bdi>
    </span>
  );
}

function FileButton({ onFile }: { onFile: (files: FileList) => void }): ReactNode {
  const { t } = useText();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon={<FolderOpenOutlined aria-hidden />} onClick={() => input.current?.click()}>
        {t.submit.openFile}
      </Button>
      <input
        ref={input}
        type="file"
        className="visually-hidden"
        tabIndex={-1}
        aria-label={t.submit.openFile}
        accept=".yaml,.yml,.json"
        onChange={(event) => {
          if (event.target.files) onFile(event.target.files);
          // The same file again is a change, too.
          event.target.value = "";
        }}
      />
    </>
  );
}

interface SubmitProps {
  blocked: string | undefined;
  /** Leads to what is wrong. */
  onWhy: () => void;
  sending: boolean;
  onSubmit: () => void;
}

function SubmitButton({ blocked, onWhy, sending, onSubmit }: SubmitProps): ReactNode {
  const { t } = useText();
  return (
    <span className="submit-send">
      {blocked !== undefined && (
        <button type="button" id="submit-blocked" className="submit-blocked" onClick={onWhy}>
          {blocked}
        </button>
      )}
      <Button
        type="primary"
        disabled={blocked !== undefined}
        loading={sending}
        aria-describedby={blocked === undefined ? undefined : "submit-blocked"}
        onClick={onSubmit}
      >
        {sending ? t.submit.sending : t.submit.send}
      </Button>
    </span>
  );
}
