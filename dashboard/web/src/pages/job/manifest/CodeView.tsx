// A text that is only read, with line numbers. The numbers stand apart, so that neither selecting
// nor the browser's search meets them; tens of thousands of lines are two elements.

import type { ReactNode } from "react";
import { useMemo } from "react";
import { visible } from "../../../components/visible";

interface Props {
  text: string;
  label: string;
}

export function CodeView({ text, label }: Props): ReactNode {
  const lines = useMemo(() => text.replace(/\n$/, "").split("\n").map(visible), [text]);
  const numbers = useMemo(() => lines.map((_, index) => index + 1).join("\n"), [lines]);
  return (
    // Scrolls by the keyboard, too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="job-code" role="region" aria-label={label} tabIndex={0}>
      <pre className="job-code-numbers" aria-hidden="true">
        {numbers}
      </pre>
      <pre className="job-code-text">
        {lines.length > COLOURED_MAX ? lines.join("\n") : coloured(lines)}
      </pre>
    </div>
  );
}

// Each key is an element: beyond this a page of plain text is quicker to open.
const COLOURED_MAX = 2_000;
// A key of a mapping, plain or quoted, maybe in a list.
const KEY = /^(\s*(?:- )*)([^\s#"'][^:"']*|"(?:[^"\\]|\\.)*"|'[^']*')(:(?: |$))/;

function coloured(lines: readonly string[]): ReactNode[] {
  return lines.map((line, index) => {
    const match = KEY.exec(line);
    const end = index < lines.length - 1 ? "\n" : "";
    if (!match) return `${line}${end}`;
    const [all, indent = "", key = "", colon = ""] = match;
    return (
      <span key={index}>
        {indent}
        <span className="job-code-key">{key}</span>
        {colon}
        {line.slice(all.length)}
        {end}
      </span>
    );
  });
}
