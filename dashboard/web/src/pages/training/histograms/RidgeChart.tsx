// All histograms of a tag in one picture: offset, or overlay.

import type { ReactNode } from "react";
import { useCallback, useMemo, useState } from "react";
import type { Histogram } from "../../../api/events";
import { useTheme } from "../../../app/theme";
import { useText } from "../../../i18n";
import type { Axis } from "../transform";
import { drawMarkedRidges, drawRidges } from "./draw";
import type { Context } from "./frame";
import { drawAxes, inside, marginsOf, ticksAcross, ticksDown } from "./frame";
import type { RidgeHit, RidgeLook } from "./ridges";
import { ridgeAt, ridgeScene } from "./ridges";
import type { Shown } from "./shown";
import { binText } from "./shown";
import { Picture, useSize } from "./Surface";
import { heightTicks, placeTicks, valueTicks } from "./ticks";

export interface ChartProps {
  /** Of the tag. */
  name: string;
  label: string;
  axis: Axis;
  /** Out of view it is not drawn. */
  inView: boolean;
  /** Of the slider. */
  chosen: number;
  onChoose: (index: number) => void;
}

interface Props extends ChartProps {
  shown: Shown<Histogram>;
  look: RidgeLook;
}

// A label of the axis of heights, "1.0e+12".
const LEFT = "1.0e+12";

export function RidgeChart(props: Props): ReactNode {
  const { shown, look, axis, inView, chosen, onChoose, label } = props;
  const { t, format } = useText();
  const { palette } = useTheme();
  const words = t.training.hist;
  const [frame, size] = useSize();
  const [point, setPoint] = useState<{ x: number; y: number }>();
  const { stacked, height, log } = look;
  const made = useMemo(() => {
    const first = Math.min(...shown.places);
    const last = Math.max(...shown.places);
    const most = ticksDown(size.height * 0.6);
    const right = stacked ? placeTicks(axis, [first, last], most, format) : [];
    const margins = marginsOf(stacked ? [] : [{ at: 0, text: LEFT }], right);
    const plot = inside(size, margins);
    const scene = ridgeScene(shown.all, shown.places, plot, { stacked, height, log });
    return { scene, margins, plot, right: stacked && last > first ? right : [] };
  }, [shown, size, axis, format, stacked, height, log]);
  const { scene, margins, plot, right } = made;
  const draw = useCallback(
    (ctx: Context) => {
      if (!scene) return;
      const below = ticksAcross(plot.width, (most) => valueTicks(scene.scale.span, most));
      const left = stacked ? [] : heightTicks(scene.heights, ticksDown(plot.height));
      drawAxes(ctx, plot, { below, left, right }, palette, scene.depth);
      drawRidges(ctx, scene, palette);
    },
    [scene, plot, right, stacked, palette],
  );
  const hit: RidgeHit | undefined = scene && point && ridgeAt(scene, point.x, point.y);
  const hover = hit?.index;
  const x = hit ? point?.x : undefined;
  const drawMarks = useCallback(
    (ctx: Context) => scene && drawMarkedRidges(ctx, scene, { chosen, hover, x }, palette),
    [scene, chosen, hover, x, palette],
  );
  const cuts = scene?.ridges.filter(({ cut }) => cut).length ?? 0;
  const wider = scene?.wider ?? 0;
  const odd = [cuts > 0 ? words.cut(cuts) : "", wider > 0 ? words.wider(wider) : ""];
  const note = odd.filter((one) => one !== "").join(" ");
  const pointed = hover === undefined ? undefined : shown.all[hover];
  return (
    <>
      <Picture
        {...{ frame, size, margins, inView, label, draw, drawMarks }}
        className="histogram-frame"
        instead={scene ? undefined : words.nothingToDraw}
        onPoint={setPoint}
        onPick={(at) => {
          const picked = scene && ridgeAt(scene, at.x, at.y);
          if (picked) onChoose(picked.index);
        }}
      />
      <p className="histogram-readout numeric" aria-hidden="true">
        {pointed && hit ? (
          <>
            <strong>{`${words.step} ${format.number(pointed.step)}`}</strong>
            {` · ${format.dateTime(pointed.wall * 1000)} · `}
            {binText(pointed, hit.value, { words, format }) ?? "–"}
          </>
        ) : (
          <span className="muted">{note === "" ? words.heightWhy[height] : note}</span>
        )}
      </p>
    </>
  );
}
