// Colours of YAML, as classes of submit.css: a style sheet that the page already has, where
// CodeMirror's own highlighting would write one at run time.

import { syntaxTree } from "@codemirror/language";
import type { Range } from "@codemirror/state";
import type { DecorationSet, EditorView, ViewUpdate } from "@codemirror/view";
import { Decoration, ViewPlugin } from "@codemirror/view";

// By names of the parser's nodes.
const MARKS: Record<string, Decoration> = {
  Key: Decoration.mark({ class: "yaml-key" }),
  Comment: Decoration.mark({ class: "yaml-comment" }),
  QuotedLiteral: Decoration.mark({ class: "yaml-text" }),
  BlockLiteralContent: Decoration.mark({ class: "yaml-text" }),
  Anchor: Decoration.mark({ class: "yaml-anchor" }),
  Alias: Decoration.mark({ class: "yaml-anchor" }),
  Tag: Decoration.mark({ class: "yaml-anchor" }),
};

function coloured(view: EditorView): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: (node) => {
        const mark = MARKS[node.name];
        if (!mark || node.from >= node.to) return undefined;
        ranges.push(mark.range(node.from, node.to));
        // A key in quotes is a key.
        return false;
      },
    });
  }
  return Decoration.set(ranges, true);
}

export const yamlColours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = coloured(view);
    }

    update(update: ViewUpdate): void {
      const parsed = syntaxTree(update.startState) !== syntaxTree(update.state);
      if (update.docChanged || update.viewportChanged || parsed) {
        this.decorations = coloured(update.view);
      }
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
