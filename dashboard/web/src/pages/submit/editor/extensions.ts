// What the editor can do: lines, undo, search, folding, completion, marks where something is wrong.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import type { Extension } from "@codemirror/state";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { JobKind } from "../../../api/types";
import { yamlColours } from "./colours";
import { completeFrom } from "./complete";

// Those that hide or turn what is around them. A carriage return is none: it is the end of a line
// in a text from Windows, which stays as it is.
const CONTROL = "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f";
const HIDDEN =
  "\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ufff9-\\ufffc";
const SPECIAL = new RegExp(`[${CONTROL}${HIDDEN}]`, "g");

export interface EditorWords {
  label: string;
  describedBy: string;
  phrases: Record<string, string>;
}

export function editorExtensions(kindNow: () => JobKind, nonce: string): Extension {
  return [
    // Positions in the text and in the editor are the same, whatever ends its lines.
    EditorState.lineSeparator.of("\n"),
    EditorState.tabSize.of(2),
    ...(nonce === "" ? [] : [EditorView.cspNonce.of(nonce)]),
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    highlightSpecialChars({ specialChars: SPECIAL }),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    search({ top: true }),
    autocompletion({ override: [completeFrom(kindNow)], icons: false }),
    yaml(),
    yamlColours,
    EditorView.lineWrapping,
    // Tab moves the focus on, as everywhere in the page.
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ];
}

export function wordExtensions({ label, describedBy, phrases }: EditorWords): Extension {
  return [
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-describedby": describedBy,
      // It has the focus without this; checkers of pages do not know it.
      tabindex: "0",
      spellcheck: "false",
      autocapitalize: "off",
    }),
    EditorState.phrases.of(phrases),
  ];
}
