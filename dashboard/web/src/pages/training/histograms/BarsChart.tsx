// A single histogram as bars, each as wide as its bin.

import type { ReactNode } from "react";
import { useCallback, useMemo, useState } from "react";
import type { Histogram } from "../../../api/events";
import { useTheme } from "../../../app/theme";
import { useText } from "../../../i18n";
import type { Height } from "./bars";
import { barsOf, binsNotDrawn, heightsOf, isCut, valueAt, valueRange } from "./bars";
import { drawBars, drawMarkedBar } from "./draw";
import type { Context } from "./frame";
import { drawAxes, inside, marginsOf, ticksAcross, ticksDown } from "./frame";
import { binText, summaryOf } from "./shown";
import { Picture, useSize } from "./Surface";
import { heightTicks, valueTicks } from "./ticks";

interface Props {
  name: string;
  histogram: Histogram;
  height: Height;
  log: boolean;
  inView: boolean;
}

// The longest that stands there: beyond it numbers have exponents.
const LEFT = [{ at: 0, text: "5,000,000" }];

export function BarsChart({ name, histogram, height, log, inView }: Props): ReactNode {
  const { t, format } = useText();
  const { palette } = useTheme();
  const words = t.training.hist;
  const [frame, size] = useSize();
  const [x, setX] = useState<number>();
  const made = useMemo(() => {
    const margins = marginsOf(LEFT, []);
    const plot = inside(size, margins);
    const span = valueRange([histogram]);
    const scale = { span: span ?? ([0, 1] as const), width: plot.width };
    const bars = span && plot.width > 0 ? barsOf(histogram, scale, height) : [];
    const heights = heightsOf([bars], log);
    return { margins, plot, scale, bars, heights, some: span !== undefined };
  }, [histogram, size, height, log]);
  const { margins, plot, scale, bars, heights, some } = made;
  const draw = useCallback(
    (ctx: Context) => {
      const below = ticksAcross(plot.width, (most) => valueTicks(scale.span, most));
      const left = heightTicks(heights, ticksDown(plot.height));
      drawAxes(ctx, plot, { below, left, right: [] }, palette);
      drawBars(ctx, bars, heights, plot, palette);
    },
    [scale, plot, bars, heights, palette],
  );
  const bar = x === undefined ? undefined : bars.findLast(({ from, to }) => x >= from && x <= to);
  const drawMarks = useCallback(
    (ctx: Context) => drawMarkedBar(ctx, bar, heights, plot, palette),
    [bar, heights, plot, palette],
  );
  const text = summaryOf(histogram, { words, format });
  const nothing = histogram.counts.length === 0 ? words.nothingCounted : words.nothingToDraw;
  const odd = binsNotDrawn(histogram);
  const pointed = x === undefined ? undefined : valueAt(x, scale);
  return (
    <>
      <Picture
        {...{ frame, size, margins, inView, draw, drawMarks }}
        className="histogram-bars"
        label={words.barsOf(name, format.number(histogram.step), text)}
        instead={some ? undefined : nothing}
        onPoint={(at) => setX(at?.x)}
      />
      <p className="histogram-readout numeric" aria-hidden="true">
        {(pointed !== undefined && binText(histogram, pointed, { words, format })) || (
          <span className="muted">
            {`${words.heights[height]} · ${text}`}
            {isCut(bars, heights) && ` · ${words.cut(1)}`}
          </span>
        )}
      </p>
      {odd > 0 && <p className="histogram-odd">{words.notDrawn(odd)}</p>}
    </>
  );
}
