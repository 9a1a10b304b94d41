// How big the squares are and how many stand in a line, by the room that there is and by how many
// replicas there are.

import type { RefObject } from "react";
import { useLayoutEffect, useState } from "react";

export interface Places {
  size: "large" | "small";
  columns: number;
  /** Of one line, in px. */
  pitch: number;
  /** Of the first line of a role. */
  first: number;
  /** The role's name stands beside its first line, not above it. */
  beside: boolean;
}

// Up to so many there is room for squares with their numbers in them.
const LARGE_UP_TO = 96;
// With the gaps; the CSS has the squares themselves. 24 px is the least that a finger hits.
const PITCH = { large: 44, small: 24 };
// Below it a column of names would take half of the line.
const BESIDE_FROM = 600;
const LABEL_WIDTH = 148;
const LABEL_HEIGHT = 24;
const ROLE_GAP = 8;
const SCROLLBAR = 14;

export function placesOf(width: number, count: number): Places {
  const size = count <= LARGE_UP_TO ? "large" : "small";
  const beside = width >= BESIDE_FROM;
  const pitch = PITCH[size];
  const room = width - SCROLLBAR - (beside ? LABEL_WIDTH : 0);
  return {
    size,
    columns: Math.max(1, Math.floor(room / pitch)),
    pitch,
    first: pitch + ROLE_GAP + (beside ? 0 : LABEL_HEIGHT),
    beside,
  };
}

export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return undefined;
    const observer = new ResizeObserver((entries) => {
      const box = entries.at(-1)?.contentRect;
      if (box) setWidth(Math.floor(box.width));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
