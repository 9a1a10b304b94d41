// The map of the stream as nodes with squares. A node that has not changed stays the same object:
// its tile does not render again.

import { useMemo, useState } from "react";
import { sameJson } from "../../api/same";
import type { GpuMap, GpuNode } from "../../api/types";
import { useLiveGpus } from "../../api/use_stream";
import type { NodeCells } from "./cells";
import { cellsOf } from "./cells";

export class NodeKeeper {
  #before = new Map<string, GpuNode>();

  keep(map: GpuMap): NodeCells[] {
    const after = new Map<string, GpuNode>();
    for (const node of map.nodes) {
      const before = this.#before.get(node.name);
      after.set(node.name, before && sameJson(before, node) ? before : node);
    }
    this.#before = after;
    return [...after.values()].map(cellsOf);
  }
}

export interface LiveMap {
  map: GpuMap;
  nodes: NodeCells[];
}

/** `undefined`: not known yet. */
export function useMap(): LiveMap | undefined {
  const map = useLiveGpus();
  const [keeper] = useState(() => new NodeKeeper());
  return useMemo(() => map && { map, nodes: keeper.keep(map) }, [map, keeper]);
}
