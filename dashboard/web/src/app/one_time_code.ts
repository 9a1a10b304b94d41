/**
 * Takes the one-time code out of "#code=…", and out of the address bar at once: it must not stay in
 * the history, in a screenshot or in a bookmark. A fragment is never sent to a server.
 */
export function takeOneTimeCode(place: Location, history: History): string | undefined {
  const fragment = new URLSearchParams(place.hash.replace(/^#/, ""));
  const code = fragment.get("code");
  if (code === null) return undefined;
  fragment.delete("code");
  const rest = fragment.toString();
  const hash = rest === "" ? "" : `#${rest}`;
  history.replaceState(history.state, "", `${place.pathname}${place.search}${hash}`);
  return code === "" ? undefined : code;
}
