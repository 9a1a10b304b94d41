// Which lines of the grid are in sight. The keyboard's line always is: its focus must not be lost
// when it scrolls out of sight.

import type { Range, VirtualItem } from "@tanstack/react-virtual";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { RefObject } from "react";
import { useCallback, useEffect } from "react";
import type { GridLine } from "./grid_lines";
import type { Places } from "./square_places";

// Lines beyond the edges, so that fast scrolling shows no gaps.
const OVERSCAN = 4;

export interface GridWindow {
  /** Of all lines, in px. */
  height: number;
  items: VirtualItem[];
  /** Lines of one screen. */
  page: number;
  scrollTo: (line: number) => void;
}

interface Of {
  lines: readonly GridLine[];
  places: Places;
  currentLine: number;
  scroller: RefObject<HTMLElement | null>;
}

export function useGridWindow({ lines, places, currentLine, scroller }: Of): GridWindow {
  // It is not memoised, and neither is what is made of it here.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (line) => (lines[line]?.first ? places.first : places.pitch),
    getItemKey: (line) => keyOf(lines[line], line),
    overscan: OVERSCAN,
    // It measures while React renders, where nothing can be flushed.
    useFlushSync: false,
    rangeExtractor: useCallback((range: Range) => withLine(currentLine, range), [currentLine]),
  });
  useEffect(() => virtualizer.measure(), [virtualizer, lines, places]);
  return {
    height: virtualizer.getTotalSize(),
    items: virtualizer.getVirtualItems(),
    page: Math.max(1, Math.floor((virtualizer.scrollRect?.height ?? 0) / places.pitch) - 1),
    scrollTo: (line) => virtualizer.scrollToIndex(line),
  };
}

function keyOf(line: GridLine | undefined, index: number): string {
  return line ? `${line.role} ${line.from}` : String(index);
}

function withLine(line: number, range: Range): number[] {
  const shown = defaultRangeExtractor(range);
  if (line < range.count && !shown.includes(line)) shown.push(line);
  return shown.sort((a, b) => a - b);
}
