// Changes of lists, as changes of their items: the others keep their lines and comments.

import type { Op } from "../manifest/edit";
import type { Json, Path } from "../manifest/path";
import { sameValue } from "../manifest/path";

/** From `old` to `next`; an empty list is no list. */
export function listOps(path: Path, old: Json | undefined, next: Json[], shared = false): Op[] {
  if (next.length === 0) return [{ remove: path, shared }];
  if (!Array.isArray(old) || old.length === 0) return [{ set: path, value: next, shared }];
  const lost = old.length - next.length;
  const cut = lost > 0 ? cutOf(old, next, lost) : undefined;
  if (cut !== undefined) {
    const removed = Array.from({ length: lost }, (): Op => ({ remove: [...path, cut], shared }));
    return removed;
  }
  const ops: Op[] = [];
  for (const [index, value] of next.entries()) {
    if (index >= old.length) ops.push({ add: path, value, shared });
    else if (!sameValue(old[index], value)) ops.push({ set: [...path, index], value, shared });
  }
  for (let index = old.length - 1; index >= next.length; --index) {
    ops.push({ remove: [...path, index], shared });
  }
  return ops;
}

/** Where `lost` items in a row were taken out, if that is all that happened. */
function cutOf(old: Json[], next: Json[], lost: number): number | undefined {
  let at = 0;
  while (at < next.length && sameValue(old[at], next[at])) ++at;
  const rest = next.slice(at);
  return rest.every((value, index) => sameValue(old[at + lost + index], value)) ? at : undefined;
}
