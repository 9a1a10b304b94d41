// What keys and pointers do in the grid of replicas. They are caught once for all squares.

import type { FocusEvent, KeyboardEvent, MouseEvent, PointerEvent } from "react";
import type { Replica } from "../../../api/types";
import type { KeptFocus } from "../../../components/use_kept_focus";
import { replicaName } from "../names";
import type { GridLine } from "./grid_lines";
import { lineOf, moveFrom } from "./grid_lines";
import type { Peek } from "./SquarePeek";
import type { GridWindow } from "./use_grid_window";

interface Of {
  replicas: readonly Replica[];
  lines: readonly GridLine[];
  square: KeptFocus;
  inSight: GridWindow;
  peek: Peek;
  onReplica: (name: string) => void;
}

export function squareEvents({ replicas, lines, square, inSight, peek, onReplica }: Of) {
  return {
    onKeyDown: (event: KeyboardEvent): void => {
      if (event.altKey || event.metaKey) return;
      const to = moveFrom(square.at, event.key, lines, inSight.page, event.ctrlKey);
      const here = replicas[square.at];
      if (event.key === "Escape") peek.hide();
      if (to !== undefined) {
        square.goTo(to);
        inSight.scrollTo(lineOf(lines, to));
      } else if (here && (event.key === "Enter" || event.key === " ")) {
        onReplica(replicaName(here));
      } else {
        return;
      }
      event.preventDefault();
    },
    onClick: ({ target }: MouseEvent): void => {
      const clicked = squareAt(target);
      if (!clicked) return;
      // What opens says more, and lies over the square: no pointer would ever leave it.
      peek.hide();
      onReplica(nameOf(clicked));
    },
    onPointerOver: ({ target, pointerType }: PointerEvent): void => {
      if (pointerType === "mouse") peek.over(squareAt(target));
    },
    onPointerLeave: peek.hide,
    onFocus: ({ target }: FocusEvent): void => {
      const focused = squareAt(target);
      if (!focused) return;
      square.onFocus(nameOf(focused));
      if (focused.matches(":focus-visible")) peek.show(focused);
    },
    onBlur: (event: FocusEvent): void => {
      square.onBlur(event);
      peek.hide();
    },
  };
}

function squareAt(target: EventTarget): HTMLElement | undefined {
  return (target as Element).closest<HTMLElement>("[data-replica]") ?? undefined;
}

function nameOf(square: HTMLElement): string {
  return square.dataset.replica ?? "";
}
