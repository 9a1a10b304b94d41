// A small line without axes: how something went, beside its value in words.
//
//   <Sparkline lines={[[{ at: 0, value: 1 }, { at: 5000, value: 2 }]]} label="between 1 and 2" />

import type { ReactNode } from "react";

interface Props {
  /** Between two of them nothing is known. at: milliseconds. */
  lines: readonly { at: number; value: number }[][];
  /** What a person who does not see it must know; also its tooltip. */
  label: string;
}

const WIDTH = 160;
const HEIGHT = 24;
const EDGE = 1.5;

/** From zero to the largest value, over the whole time. Nothing of less than two points. */
export function Sparkline({ lines, label }: Props): ReactNode {
  const points = lines.flat();
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || last.at === first.at) return null;
  const most = points.reduce((max, { value }) => Math.max(max, value), 0) || 1;
  const x = (at: number): number =>
    EDGE + ((at - first.at) / (last.at - first.at)) * (WIDTH - 2 * EDGE);
  const y = (value: number): number => HEIGHT - EDGE - (value / most) * (HEIGHT - 2 * EDGE);
  const place = ({ at, value }: { at: number; value: number }): string =>
    `${x(at).toFixed(1)},${y(value).toFixed(1)}`;
  return (
    <svg
      className="sparkline"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {lines.map((line) => (
        <polyline key={line[0]?.at} points={line.map(place).join(" ")} />
      ))}
    </svg>
  );
}
