// A picture on two canvases: one for what stays, one above it for what follows the pointer. It is
// as large as its frame and as sharp as the screen.
//
//   const [frame, size] = useSize();
//   <Picture frame={frame} size={size} margins={margins} draw={draw} … />

import type { PointerEvent, ReactNode, RefObject } from "react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useText } from "../../../i18n";
import type { Context, Margins } from "./frame";
import type { Size } from "./ridges";

/** Within the margins. */
export type Draw = (ctx: Context) => void;

interface SurfaceProps {
  size: Size;
  margins: Margins;
  /** undefined: it is out of view, and stays as it was. */
  draw: Draw | undefined;
  drawMarks: Draw | undefined;
  /** In pixels, within the margins; undefined: the pointer has left. */
  onPoint?: (at: { x: number; y: number } | undefined) => void;
  onPick?: (at: { x: number; y: number }) => void;
}

interface Props extends SurfaceProps {
  frame: RefObject<HTMLDivElement | null>;
  className: string;
  /** What one sees, in words. */
  label: string;
  inView: boolean;
  /** Instead of the picture. */
  instead: string | undefined;
}

export function Picture(props: Props): ReactNode {
  const { frame, className, label, inView, instead, ...rest } = props;
  const { draw, drawMarks } = rest;
  return (
    <div className={className} ref={frame} role="img" aria-label={label}>
      {instead !== undefined && rest.size.width > 0 ? (
        <p className="muted">{instead}</p>
      ) : (
        <Surface
          {...rest}
          draw={inView ? draw : undefined}
          drawMarks={inView ? drawMarks : undefined}
        />
      )}
    </div>
  );
}

function Surface(props: SurfaceProps): ReactNode {
  const { size, margins, draw, drawMarks, onPoint, onPick } = props;
  const { t } = useText();
  const canDraw = useMemo(() => document.createElement("canvas").getContext("2d") !== null, []);
  const below = useDrawn(size, margins, draw);
  const above = useDrawn(size, margins, drawMarks);
  if (!canDraw) return <p className="muted">{t.training.noCanvas}</p>;
  const place = (event: PointerEvent | React.MouseEvent): { x: number; y: number } => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left - margins.left, y: event.clientY - box.top - margins.top };
  };
  return (
    // What the pointer does here, the slider does by keys.
    /* eslint-disable jsx-a11y/no-static-element-interactions */
    /* eslint-disable jsx-a11y/click-events-have-key-events */
    <div
      className="histogram-surface"
      onPointerMove={(event) => onPoint?.(place(event))}
      onPointerLeave={() => onPoint?.(undefined)}
      onClick={(event) => onPick?.(place(event))}
    >
      <canvas ref={below} />
      <canvas ref={above} />
    </div>
  );
}

function useDrawn(
  size: Size,
  margins: Margins,
  draw: Draw | undefined,
): RefObject<HTMLCanvasElement | null> {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = size;
  const { left, top } = margins;
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context || !draw || width < 1 || height < 1) return;
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.round(width * ratio);
    const high = Math.round(height * ratio);
    // To set a size, even the same, costs as much as to draw.
    if (canvas.current.width !== wide) canvas.current.width = wide;
    if (canvas.current.height !== high) canvas.current.height = high;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.translate(left, top);
    draw(context);
  }, [draw, width, height, left, top]);
  return canvas;
}

const NONE: Size = { width: 0, height: 0 };

/** Of what `ref` is on, as soon as it has been laid out. */
export function useSize(): [RefObject<HTMLDivElement | null>, Size] {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState(NONE);
  useEffect(() => {
    if (!ref.current) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      setSize({ width: Math.floor(width), height: Math.floor(height) });
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, size];
}
