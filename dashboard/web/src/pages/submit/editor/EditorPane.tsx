// The editor while it is loaded, when it is there, and when it cannot be had.

import type { ReactNode } from "react";
import { Component, lazy, Suspense } from "react";
import { useText } from "../../../i18n";
import type { EditorProps } from "./YamlEditor";

const load = () => import("./YamlEditor");
const YamlEditor = lazy(load);

/** While something else is read; what fails is said where the editor shows. */
export function loadEditorSoon(): void {
  load().catch(() => undefined);
}

export function EditorPane(props: EditorProps): ReactNode {
  return (
    <Fallback plain={<PlainEditor {...props} failed />}>
      <Suspense fallback={<PlainEditor {...props} />}>
        <YamlEditor {...props} />
      </Suspense>
    </Fallback>
  );
}

function PlainEditor(props: EditorProps & { failed?: boolean }): ReactNode {
  const { text, describedBy, onChange, failed } = props;
  const { t } = useText();
  return (
    <>
      {failed && <p className="submit-hint">{t.submit.editorFailed}</p>}
      <textarea
        className="submit-plain mono"
        aria-label={t.submit.yamlLabel}
        aria-describedby={describedBy}
        spellCheck={false}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    </>
  );
}

interface FallbackProps {
  plain: ReactNode;
  children: ReactNode;
}

/** A part of the page that cannot be loaded any more, as after an update of the server. */
class Fallback extends Component<FallbackProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.plain : this.props.children;
  }
}
