// Pointer and keyboard on the map: one set of handlers for thousands of squares.

import type { FocusEvent, KeyboardEvent, MouseEvent, PointerEvent } from "react";
import { useCallback, useMemo } from "react";
import { createPath, useHref, useNavigate } from "react-router";
import { jobKey, jobPage } from "../../api/paths";
import { useKeepNamespace } from "../../app/namespace";
import type { Row, Sizes, Spot } from "./layout";
import { cellAt, firstPlace, move, placeOf } from "./layout";
import type { CardControl } from "./use_card";

/** The square of an event. */
function squareOf(target: EventTarget): { spot: Spot; square: Element } | undefined {
  const square = (target as Element).closest("[data-index]");
  const node = square?.closest("[data-node]")?.getAttribute("data-node");
  if (!square || node === null || node === undefined) return undefined;
  return { spot: { node, index: Number(square.getAttribute("data-index")) }, square };
}

type Open = (spot: Spot, newTab: boolean) => boolean;

/** Opens the page of the job that holds a square; false: none does, or more than one. */
function useOpen(rows: readonly Row[]): Open {
  const keep = useKeepNamespace();
  const navigate = useNavigate();
  const base = useHref("/");
  return useCallback(
    (spot, newTab) => {
      const [holder, other] = cellAt(rows, placeOf(rows, spot))?.holders ?? [];
      if (!holder?.job || other) return false;
      const to = keep(jobPage(holder.job));
      if (newTab) window.open(base.replace(/\/$/, "") + createPath(to), "_blank", "noopener");
      else void navigate(to);
      return true;
    },
    [rows, keep, navigate, base],
  );
}

export interface GridHandlers {
  onPointerOver: (event: PointerEvent) => void;
  onFocus: (event: FocusEvent) => void;
  onBlur: (event: FocusEvent) => void;
  onClick: (event: MouseEvent) => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

interface Grid {
  rows: readonly Row[];
  sizes: Sizes;
  control: CardControl;
  spot: Spot | undefined;
  setSpot: (spot: Spot) => void;
  /** Brings a row into sight. */
  scrollTo: (row: number) => void;
  onJob: (job: string) => void;
}

export function useGridHandlers(grid: Grid): GridHandlers {
  const { rows, sizes, control, spot, setSpot, scrollTo, onJob } = grid;
  const { show, leave, hide } = control;
  const open = useOpen(rows);
  const pointer = useMemo(
    () => ({
      onPointerOver: (event: PointerEvent): void => {
        if (event.pointerType === "touch") return;
        const found = squareOf(event.target);
        if (found) show(found.spot, found.square);
        else leave();
      },
      onFocus: (event: FocusEvent): void => {
        const found = squareOf(event.target);
        if (!found) return;
        setSpot(found.spot);
        if (found.square.matches(":focus-visible")) show(found.spot, found.square);
      },
      onBlur: (event: FocusEvent): void => {
        const to = event.relatedTarget as Node | null;
        if (to && !event.currentTarget.contains(to)) hide();
      },
      onClick: (event: MouseEvent): void => {
        const found = squareOf(event.target);
        if (!found) return;
        const { pointerType } = event.nativeEvent as globalThis.PointerEvent;
        // A finger sees the card first: its link opens the job.
        const opened =
          pointerType !== "touch" && open(found.spot, event.ctrlKey || event.metaKey);
        if (!opened) show(found.spot, found.square);
      },
    }),
    [show, leave, hide, setSpot, open],
  );
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.key === "Escape") hide();
    // On a link in the card keys are its own.
    const found = squareOf(event.target);
    if (!found || event.altKey || event.metaKey) return;
    const place = placeOf(rows, spot) ?? firstPlace(rows);
    const to = place && move(rows, place, { key: event.key, ctrl: event.ctrlKey }, sizes);
    const next = cellAt(rows, to);
    if (to && next) {
      event.preventDefault();
      scrollTo(to.row);
      setSpot({ node: next.node.name, index: next.index });
    } else if (event.key === "Enter") {
      open(found.spot, event.ctrlKey);
    } else if (event.key === " ") {
      event.preventDefault();
      const job = cellAt(rows, place)?.holders[0]?.job;
      if (job) onJob(jobKey(job));
    }
  };
  return { ...pointer, onKeyDown };
}
