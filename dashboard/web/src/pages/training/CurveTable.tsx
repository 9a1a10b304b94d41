// The points of a chart as a table, for who does not see the canvas or wants the numbers.

import type { ReactNode } from "react";
import { useText } from "../../i18n";
import { placeText, valueText } from "./axis_text";
import type { ChartLine } from "./curves";
import type { Aligned, Axis } from "./transform";

interface Props {
  lines: readonly ChartLine[];
  data: Aligned;
  axis: Axis;
  caption: string;
}

// A curve has about a thousand points; of several jobs on an axis of time no two places are equal.
const ROWS_MAX = 2_000;

export function CurveTable({ lines, data, axis, caption }: Props): ReactNode {
  const { t, format } = useText();
  const words = t.training;
  const first = Math.max(0, data.x.length - ROWS_MAX);
  return (
    <div className="curve-table" role="region" aria-label={caption}>
      {first > 0 && <p className="muted">{words.lastRows(ROWS_MAX)}</p>}
      <table className="curve-data">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{words.axes[axis]}</th>
            {lines.map((line) => (
              <th key={line.id} scope="col">
                <bdi>{line.label}</bdi> · {line.ofTest ? words.test : words.train}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.x.slice(first).map((place, row) => (
            <tr key={place}>
              <th scope="row" className="numeric">
                {placeText(axis, place, format)}
              </th>
              {lines.map((line, index) => {
                const value = data.columns[2 * index]?.[first + row];
                return (
                  <td key={line.id} className="numeric">
                    {value === undefined ? "" : value === null ? words.noNumber : valueText(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
