// The list of manifests to start from.

import { Modal } from "antd";
import type { ReactNode } from "react";
import { useSession } from "../../../app/session";
import { useText } from "../../../i18n";
import type { Template } from "../templates/templates";
import { TEMPLATES } from "../templates/templates";

interface Props {
  open: boolean;
  current: string | undefined;
  onPick: (template: Template) => void;
  onClose: () => void;
}

export function TemplatePicker({ open, current, onPick, onClose }: Props): ReactNode {
  const { t } = useText();
  const { kinds } = useSession();
  return (
    <Modal
      open={open}
      title={t.submit.picker.title}
      width={820}
      footer={<p className="submit-hint">{t.submit.picker.hint}</p>}
      onCancel={onClose}
      destroyOnHidden
    >
      <ul className="submit-templates">
        {TEMPLATES.filter(({ kind }) => kinds.includes(kind)).map((template) => (
          <li key={template.id}>
            <TemplateCard template={template} current={template.id === current} onPick={onPick} />
          </li>
        ))}
      </ul>
    </Modal>
  );
}

interface CardProps {
  template: Template;
  current: boolean;
  onPick: Props["onPick"];
}

function TemplateCard({ template, current, onPick }: CardProps): ReactNode {
  const { t } = useText();
  const { title, text } = templateWords(t.submit.template, template.id);
  return (
    <button
      type="button"
      className="submit-template"
      aria-current={current ? "true" : undefined}
      onClick={() => onPick(template)}
    >
      <strong>{title}</strong>
      {current && <span className="muted"> ({t.submit.picker.current})</span>}
      <span className="submit-template-text">{text}</span>
      <span className="submit-template-facts mono">
        {template.kind} · {template.roles}
      </span>
    </button>
  );
}

/** An example that is newer than these words goes by its file's name. */
export function templateWords(
  words: Record<string, { title: string; text: string }>,
  id: string,
): { title: string; text: string } {
  return words[id] ?? { title: id, text: "" };
}
