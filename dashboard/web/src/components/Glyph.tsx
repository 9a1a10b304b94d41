// Small pictures that stand beside a word, each with an outline of its own so that they differ
// without colour. Plain SVG: tables draw hundreds of them.

import type { ReactNode } from "react";

const PATHS = {
  // A filled disc with a tick.
  ok:
    "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Z" +
    "m3.6 5-4.3 5a.8.8 0 0 1-1.2 0L4 8.7l1.1-1.1 1.6 1.7L10.4 5z",
  // A filled triangle with an exclamation mark.
  warning: "M8 1.2 15.4 14.4H.6Zm-.8 4.6v4.4h1.6V5.8Zm0 5.4v1.6h1.6v-1.6Z",
  // A filled octagon with a cross.
  critical:
    "M5 1h6l4 4v6l-4 4H5l-4-4V5Zm.9 3.8L4.8 5.9 6.9 8l-2.1 2.1 1.1 1.1L8 9.1l2.1 2.1 1.1-1.1" +
    "L9.1 8l2.1-2.1-1.1-1.1L8 6.9Z",
  // A clock.
  pending:
    "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11Z" +
    "M7.2 4.5h1.5v3.4l2.3 1.4-.8 1.3-3-1.9Z",
  running: "M4 2.2 13.5 8 4 13.8Z",
  restarting:
    "M8 2.5c1.7 0 3.2.8 4.2 2L14 2.8V8H8.8l2.3-2.3A4 4 0 1 0 11.9 9h1.6A5.5 5.5 0 1 1 8 2.5Z",
  suspended: "M4 2.5h3v11H4Zm5 0h3v11H9Z",
  succeeded: "M13.7 4.3 6.4 12.4 2.3 8.3l1.2-1.2 2.8 2.8 6.2-6.8Z",
  failed:
    "M3.6 2.4 8 6.8l4.4-4.4 1.2 1.2L9.2 8l4.4 4.4-1.2 1.2" +
    "L8 9.2l-4.4 4.4-1.2-1.2L6.8 8 2.4 3.6Z",
  unknown:
    "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11Z" +
    "M5 7.3h6v1.5H5Z",
  deleting: "M6 1.5h4v1h4V4H2V2.5h4ZM3.3 5h9.4l-.7 9.5H4Z",
  up: "M8 4 13 11H3Z",
  down: "M8 12 3 5h10Z",
} satisfies Record<string, string>;

export type GlyphName = keyof typeof PATHS;

export function Glyph({ name, tone }: { name: GlyphName; tone?: string }): ReactNode {
  const style = tone ? { color: `var(--${tone})` } : undefined;
  return (
    <svg className="glyph" viewBox="0 0 16 16" aria-hidden="true" style={style}>
      <path fillRule="evenodd" d={PATHS[name]} />
    </svg>
  );
}
