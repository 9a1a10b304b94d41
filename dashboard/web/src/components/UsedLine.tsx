// An amount that was measured again and again: as it is now, or at most was, and its line.
//
//   <UsedLine lines={lines} now={0.5} text={(cores) => `${cores} cores`} />

import type { ReactNode } from "react";
import type { Point } from "../api/usage_history";
import { useText } from "../i18n";
import { Sparkline } from "./Sparkline";

interface Props {
  lines: Point[][];
  /** undefined: nobody measures it any more. */
  now?: number;
  text: (value: number) => string;
}

export function UsedLine({ lines, now, text }: Props): ReactNode {
  const { t, format } = useText();
  const values = lines.flat().map(({ value }) => value);
  const first = lines[0]?.[0];
  if (first === undefined) return now === undefined ? "—" : text(now);
  let [least, most] = [first.value, first.value];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const label = t.job.pod.usedSince(format.time(first.at), text(least), text(most));
  return (
    <>
      {now === undefined ? t.job.pod.atMost(text(most)) : text(now)}
      <Sparkline lines={lines} label={label} />
    </>
  );
}
