// The numbers behind the pictures, as they are in the files.

import type { ReactNode } from "react";
import type { Distribution, Histogram } from "../../../api/events";
import { BASIS_POINTS } from "../../../api/events";
import { useText } from "../../../i18n";
import { shareText } from "./shown";

// TensorFlow's histograms have at most 1,549 bins.
const ROWS_MAX = 2_000;

interface Props {
  name: string;
}

export function BinsTable({ name, histogram }: Props & { histogram: Histogram }): ReactNode {
  const { t, format } = useText();
  const words = t.training.hist;
  const { edges, counts, total } = histogram;
  const rows = counts.slice(0, ROWS_MAX).map((count, bin) => [
    String(edges[bin]),
    String(edges[bin + 1]),
    String(count),
    shareText(count / (total || 1)),
  ]);
  return (
    <NumbersOf
      caption={words.tableOf(name, format.number(histogram.step))}
      head={[words.from, words.to, words.count, words.share]}
      rows={rows}
      cut={counts.length > ROWS_MAX}
    />
  );
}

export function BandsTable(props: Props & { distributions: readonly Distribution[] }): ReactNode {
  const { name, distributions } = props;
  const { t, format } = useText();
  const words = t.training.hist;
  const rows = distributions.slice(0, ROWS_MAX).map(({ step, wall, values }) => [
    String(step),
    format.dateTime(wall * 1000),
    ...values.map(String),
  ]);
  return (
    <NumbersOf
      caption={words.bandsTableOf(name)}
      head={[words.step, t.training.axes.wall, ...BASIS_POINTS.map((one) => `${one / 100} %`)]}
      rows={rows}
      cut={distributions.length > ROWS_MAX}
    />
  );
}

interface NumbersProps {
  caption: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
  cut: boolean;
}

function NumbersOf({ caption, head, rows, cut }: NumbersProps): ReactNode {
  const { t } = useText();
  return (
    // It scrolls, so that it can be reached by keys.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="curve-table" role="region" aria-label={caption} tabIndex={0}>
      {cut && <p className="muted">{t.training.hist.firstRows(ROWS_MAX)}</p>}
      <table className="curve-data">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((text, column) => (
                <td key={column} className="numeric">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
