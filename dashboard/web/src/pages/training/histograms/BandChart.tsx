// How the spread of a tag's values changes along the axis of the curves.

import type { ReactNode } from "react";
import { useCallback, useMemo, useState } from "react";
import type { Distribution } from "../../../api/events";
import { BASIS_POINTS } from "../../../api/events";
import { useTheme } from "../../../app/theme";
import { useText } from "../../../i18n";
import { valueText } from "../axis_text";
import { bandAt, bandScene, MIDDLE } from "./bands";
import { drawBands, drawMarkedBand } from "./draw";
import type { Context } from "./frame";
import { drawAxes, inside, marginsOf, ticksAcross, ticksDown } from "./frame";
import type { ChartProps } from "./RidgeChart";
import type { Shown } from "./shown";
import { Picture, useSize } from "./Surface";
import { placeTicks, valueTicks } from "./ticks";

interface Props extends ChartProps {
  shown: Shown<Distribution>;
}

// The last tick of the axis stands half beyond its end.
const RIGHT = { at: 0, text: "00000" };

export function BandChart(props: Props): ReactNode {
  const { shown, axis, inView, chosen, onChoose, label } = props;
  const { t, format } = useText();
  const { palette } = useTheme();
  const words = t.training.hist;
  const [frame, size] = useSize();
  const [point, setPoint] = useState<{ x: number; y: number }>();
  const { scene, margins, plot, left } = useMemo(() => {
    const values = bandScene(shown.all, shown.places, size)?.values;
    const ticks = values ? valueTicks(values, ticksDown(size.height)) : [];
    const around = marginsOf(ticks, [RIGHT]);
    const within = inside(size, around);
    const made = bandScene(shown.all, shown.places, within);
    return { scene: made, margins: around, plot: within, left: ticks };
  }, [shown, size]);
  const draw = useCallback(
    (ctx: Context) => {
      if (!scene) return;
      const below = ticksAcross(plot.width, (most) =>
        placeTicks(axis, scene.places, most, format),
      );
      drawAxes(ctx, plot, { below, left, right: [] }, palette);
      drawBands(ctx, scene, palette);
    },
    [scene, plot, left, axis, format, palette],
  );
  const hover = scene && point ? bandAt(scene, point.x) : undefined;
  const drawMarks = useCallback(
    (ctx: Context) => {
      const mark = scene?.parts.flat().find(({ index }) => index === chosen);
      if (scene) drawMarkedBand(ctx, scene, { chosen: mark, hover }, palette);
    },
    [scene, chosen, hover, palette],
  );
  const pointed = hover && shown.all[hover.index];
  return (
    <>
      <Picture
        {...{ frame, size, margins, inView, label, draw, drawMarks }}
        className="histogram-frame"
        instead={scene ? undefined : words.nothingToDraw}
        onPoint={setPoint}
        onPick={({ x }) => {
          const picked = scene && bandAt(scene, x);
          if (picked) onChoose(picked.index);
        }}
      />
      <p className="histogram-readout numeric" aria-hidden="true">
        {pointed ? (
          <>
            <strong>{`${words.step} ${format.number(pointed.step)}`}</strong>
            {` · ${format.dateTime(pointed.wall * 1000)} · ${pointText(pointed)}`}
          </>
        ) : (
          <span className="muted">{words.bandLegend}</span>
        )}
      </p>
    </>
  );
  function pointText({ values }: Distribution): string {
    const [least, middle, most] = [0, MIDDLE, BASIS_POINTS.length - 1].map((at) =>
      valueText(values[at]),
    );
    return `${t.training.min} ${least}, ${words.median} ${middle}, ${t.training.max} ${most}`;
  }
}
