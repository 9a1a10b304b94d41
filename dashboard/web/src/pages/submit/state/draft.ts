// The manifest that is being written: its text, what was last read from it, and how it began.
//
// The text is the truth. A form shows the last text that could be read (`good`), and changes the
// text by edits of single values.

import type { Op } from "../manifest/edit";
import { applyOps, EditRefused } from "../manifest/edit";
import type { Path } from "../manifest/path";
import type { Manifest, Reading } from "../manifest/read";
import { readManifest } from "../manifest/read";
import { withDirectories } from "../model/directories";

export interface Origin {
  from: "template" | "file" | "clone" | "history";
  /** Of the template, the file or the job. */
  name: string;
}

export interface Draft {
  text: string;
  /** The text before the user changed it. */
  original: string;
  origin: Origin;
}

export interface DraftState {
  draft: Draft;
  reading: Reading;
  good: Manifest | undefined;
  /** What the form could not change in this text. */
  refused: Path | undefined;
}

export type DraftAction =
  { do: "type"; text: string } | { do: "edit"; ops: readonly Op[] } | { do: "start"; draft: Draft };

export function newDraft(text: string, origin: Origin): Draft {
  return { text, original: text, origin };
}

export function isTouched({ text, original }: Draft): boolean {
  return text !== original;
}

export function initialState(draft: Draft): DraftState {
  return withText({
    draft,
    reading: { ok: false, problems: [] },
    good: undefined,
    refused: undefined,
  });
}

function withText(state: DraftState): DraftState {
  const reading = readManifest(state.draft.text);
  return { ...state, reading, good: reading.ok ? reading.manifest : state.good };
}

export function reduceDraft(state: DraftState, action: DraftAction): DraftState {
  switch (action.do) {
    case "start":
      return initialState(action.draft);
    case "type":
      if (action.text === state.draft.text) return state;
      return withText({
        ...state,
        draft: { ...state.draft, text: action.text },
        refused: undefined,
      });
    case "edit":
      return edit(state, action.ops);
  }
}

function edit(state: DraftState, ops: readonly Op[]): DraftState {
  // A form that shows something else than the text must not write into it.
  if (!state.reading.ok) return state;
  try {
    const all = withDirectories(state.reading.manifest.value, ops);
    const text = applyOps(state.draft.text, all);
    return withText({ ...state, draft: { ...state.draft, text }, refused: undefined });
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error;
    return { ...state, refused: error.path };
  }
}
