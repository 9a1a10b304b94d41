// The manifest as text. Loaded when the page is first opened: nothing else needs an editor.

import { setDiagnostics } from "@codemirror/lint";
import { Annotation, Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { ConfigProvider } from "antd";
import type { ReactNode } from "react";
import { useContext, useEffect, useLayoutEffect, useRef } from "react";
import { useText } from "../../../i18n";
import type { JobKind } from "../../../api/types";
import { editorExtensions, wordExtensions } from "./extensions";

export interface Mark {
  from: number;
  to: number;
  severity: "error" | "warning";
  message: string;
}

/** Where to go; a new object each time, so that one can go to the same place twice. */
export interface Reveal {
  from: number;
  to: number;
}

export interface EditorProps {
  text: string;
  kind: JobKind;
  marks: readonly Mark[];
  reveal: Reveal | undefined;
  describedBy: string;
  onChange: (text: string) => void;
}

const fromOutside = Annotation.define<boolean>();

export default function YamlEditor(props: EditorProps): ReactNode {
  const { text, kind, marks, reveal, describedBy } = props;
  const { t } = useText();
  const { csp } = useContext(ConfigProvider.ConfigContext);
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const words = useRef(new Compartment());
  // What was typed here and has not come back as `text` yet.
  const sent = useRef<string[]>([]);
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const nonce = csp?.nonce ?? "";
  useLayoutEffect(() => {
    if (!place.current) return undefined;
    const compartment = words.current;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [
          editorExtensions(() => latest.current.kind, nonce),
          compartment.of([]),
          EditorView.updateListener.of((update) => {
            const own = update.transactions.some((one) => one.annotation(fromOutside));
            if (!update.docChanged || own) return;
            const typed = update.state.doc.toString();
            sent.current.push(typed);
            latest.current.onChange(typed);
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = undefined;
    };
  }, [nonce]);
  useLayoutEffect(() => {
    const known = sent.current.indexOf(text);
    if (known >= 0) sent.current.splice(0, known + 1);
    else if (view.current) follow(view.current, text);
  }, [text]);
  useEffect(() => {
    const extension = wordExtensions({
      label: t.submit.yamlLabel,
      describedBy,
      phrases: t.submit.editorPhrases,
    });
    view.current?.dispatch({ effects: words.current.reconfigure(extension) });
  }, [t, describedBy]);
  useEffect(() => {
    if (view.current) mark(view.current, marks);
  }, [marks, kind]);
  useEffect(() => {
    if (reveal && view.current) goTo(view.current, reveal);
  }, [reveal]);
  return <div className="submit-editor" ref={place} />;
}

/** The smallest change that makes it `text`: cursor, folds and undo stay. */
function follow(view: EditorView, text: string): void {
  const old = view.state.doc.toString();
  if (old === text) return;
  let from = 0;
  while (from < old.length && from < text.length && old[from] === text[from]) ++from;
  let tail = 0;
  const most = Math.min(old.length, text.length) - from;
  while (tail < most && old[old.length - 1 - tail] === text[text.length - 1 - tail]) ++tail;
  const insert = view.state.toText(text.slice(from, text.length - tail));
  view.dispatch({
    changes: { from, to: old.length - tail, insert },
    annotations: fromOutside.of(true),
  });
}

function mark(view: EditorView, marks: readonly Mark[]): void {
  const { length } = view.state.doc;
  const within = marks.map((one) => ({
    ...one,
    from: Math.min(one.from, length),
    to: Math.min(one.to, length),
  }));
  view.dispatch(setDiagnostics(view.state, within));
}

function goTo(view: EditorView, { from, to }: Reveal): void {
  const { length } = view.state.doc;
  const anchor = Math.min(from, length);
  view.dispatch({
    selection: { anchor, head: Math.min(to, length) },
    effects: EditorView.scrollIntoView(anchor, { y: "center" }),
  });
  view.focus();
}
