// The lines of a chart: how each looks, its numbers, and a button that hides it.

import type { ReactNode } from "react";
import { useTheme } from "../../app/theme";
import { useText } from "../../i18n";
import { valueText } from "./axis_text";
import type { ChartLine } from "./curves";
import { rangeOf } from "./curves";
import type { LineStyle } from "./line_style";
import { lineStyle } from "./line_style";

interface Props {
  lines: readonly ChartLine[];
  hidden: ReadonlySet<string>;
  /** At the cursor, of each line; undefined: the cursor is elsewhere. */
  at: (number | null | undefined)[] | undefined;
  /** Points of each line that cannot be drawn. */
  gaps: readonly number[];
  log: boolean;
  onToggle: (id: string) => void;
}

export function Legend({ lines, hidden, at, gaps, log, onToggle }: Props): ReactNode {
  const { t, format } = useText();
  const { dark } = useTheme();
  const words = t.training;
  return (
    <ul className="curve-legend">
      {lines.map((line, index) => {
        const range = rangeOf(line.points);
        const gap = gaps[index] ?? 0;
        return (
          <li key={line.id}>
            <button
              type="button"
              className="curve-toggle"
              aria-pressed={!hidden.has(line.id)}
              title={words.toggle}
              onClick={() => onToggle(line.id)}
            >
              <Swatch style={lineStyle(line, dark)} />
              <span className="curve-name">
                <bdi>{line.label}</bdi> · {line.ofTest ? words.test : words.train}
              </span>
            </button>
            <span className="curve-numbers numeric">
              <Value name={words.at} value={at?.[index]} hide={at === undefined} />
              <Value name={words.last} value={range?.last} />
              <Value name={words.min} value={range?.min} />
              <Value name={words.max} value={range?.max} />
            </span>
            {gap > 0 && (
              <span className="curve-gaps">{log ? words.gapsLog(gap) : words.gaps(gap)}</span>
            )}
            {line.endsEarly && (
              <span className="curve-early muted">
                {words.endsEarly(
                  format.number(line.endsEarly.step),
                  format.number(line.endsEarly.of),
                )}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

interface ValueProps {
  name: string;
  value: number | null | undefined;
  /** Its place stays, so that nothing jumps when the cursor comes. */
  hide?: boolean;
}

function Value({ name, value, hide = false }: ValueProps): ReactNode {
  return (
    <span className={hide ? "curve-value curve-away" : "curve-value"} aria-hidden={hide}>
      <span className="muted">{name}</span> {valueText(value)}
    </span>
  );
}

export function Swatch({ style }: { style: LineStyle }): ReactNode {
  return (
    <svg className="curve-swatch" viewBox="0 0 36 10" aria-hidden="true">
      <line
        x1="0"
        x2="36"
        y1="5"
        y2="5"
        stroke={style.colour}
        strokeWidth="2.5"
        strokeDasharray={style.dash.join(" ")}
      />
      {style.dots && <circle cx="18" cy="5" r="4" fill={style.colour} />}
    </svg>
  );
}
