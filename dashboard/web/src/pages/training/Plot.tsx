// The canvas of a chart. It is made anew only when its look changes; data, zoom and size come into
// the same plot, so that the cursor stays where it is.

import type { ReactNode, Ref } from "react";
import { useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "../../app/theme";
import { useText } from "../../i18n";
import type { PlotHandle, PlotLook, PlotNow } from "./plot_options";
import { plotOptions } from "./plot_options";
import type { Aligned } from "./transform";

interface Props {
  data: Aligned;
  look: PlotLook;
  now: PlotNow;
  group: string;
  handle: Ref<PlotHandle>;
}

// Before the frame has been laid out.
const SIZE = { width: 320, height: 200 };

export default function Plot({ data, look, now, group, handle }: Props): ReactNode {
  const { t, format } = useText();
  const { palette } = useTheme();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef({ now, columns: [data.x, ...data.columns] as uPlot.AlignedData });
  const size = useRef(SIZE);
  const canDraw = useMemo(() => document.createElement("canvas").getContext("2d") !== null, []);
  const key = JSON.stringify(look);
  useLayoutEffect(() => {
    latest.current = { now, columns: [data.x, ...data.columns] as uPlot.AlignedData };
  }, [now, data]);
  useEffect(() => {
    if (!frame.current || !canDraw) return undefined;
    const options = plotOptions({
      look: JSON.parse(key) as PlotLook,
      palette,
      format,
      group,
      size: size.current,
      now: () => latest.current.now,
    });
    const made = new uPlot(options, latest.current.columns, frame.current);
    plot.current = made;
    return () => {
      plot.current = undefined;
      made.destroy();
    };
  }, [key, palette, format, group, canDraw]);
  useEffect(() => {
    plot.current?.setData(latest.current.columns, true);
  }, [data, now.x, now.y]);
  useEffect(() => {
    if (!frame.current) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      if (width < 1 || height < 1) return;
      size.current = { width: Math.floor(width), height: Math.floor(height) };
      plot.current?.setSize(size.current);
    });
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  useImperativeHandle(handle, () => ({
    moveTo: (index) => {
      const made = plot.current;
      const place = latest.current.columns[0]?.[index];
      if (!made || place === undefined) return;
      made.setCursor({ left: made.valToPos(place, "x"), top: made.over.clientHeight / 2 });
    },
  }));
  return (
    <div className="curve-canvas" ref={frame}>
      {!canDraw && <p className="muted">{t.training.noCanvas}</p>}
    </div>
  );
}
