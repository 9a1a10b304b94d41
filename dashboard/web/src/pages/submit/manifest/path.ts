// Where something is in a manifest: "spec.volumes[0].name", as an API server writes it.
//
//   readFieldPath("spec.roles.worker.resources.limits.nvidia.com/gpu", manifest);
//   valueAt(manifest, ["spec", "roles", "worker", "replicas"]);

export type Key = string | number;
export type Path = readonly Key[];

/** What JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Of the object's own fields only: "constructor" is a key like any other. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at)) at = typeof key === "number" ? at[key] : undefined;
    else if (isObject(at) && Object.hasOwn(at, String(key))) at = at[String(key)];
    else return undefined;
  }
  return at;
}

/** A copy with `next` at `path`; what lacks on the way there is made. */
export function withValue(value: Json | undefined, path: Path, next: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  if (typeof key === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    list[key] = withValue(list[key], rest, next);
    return list;
  }
  return withField(isObject(value) ? value : {}, key, (old) => withValue(old, rest, next));
}

/** A copy without what is at `path`. */
export function withoutValue(value: Json, path: Path): Json {
  const [key, ...rest] = path;
  if (key === undefined) return null;
  if (Array.isArray(value) && typeof key === "number") {
    if (rest.length === 0) return value.filter((_, index) => index !== key);
    return value.map((item, index) => (index === key ? withoutValue(item, rest) : item));
  }
  if (!isObject(value) || !Object.hasOwn(value, String(key))) return value;
  if (rest.length > 0) {
    return withField(value, String(key), (old) => withoutValue(old ?? null, rest));
  }
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

function withField(object: JsonObject, key: string, next: (old: Json | undefined) => Json) {
  const entries = new Map(Object.entries(object));
  entries.set(key, next(entries.get(key)));
  // "__proto__" becomes a field, too, and not the object's prototype.
  return Object.fromEntries(entries);
}

/** What a person reads for a value; of nothing it is nothing. */
export function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function isWithin(path: Path, outer: Path): boolean {
  return path.length >= outer.length && outer.every((key, index) => path[index] === key);
}

export function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && isWithin(a, b);
}

export function sameValue(a: Json | undefined, b: Json | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  }
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
    );
  }
  return a === b;
}

export function pathText(path: Path): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/[./[\]]/.test(key)) text += `[${key}]`;
    else text += text === "" ? key : `.${key}`;
  }
  return text;
}

/**
 * Of a path in a server's words. Its keys may have dots in them, which only the object itself
 * tells from the dots between keys: the longest key that it has is taken.
 */
export function readFieldPath(field: string, value: Json | undefined): Path {
  const path: Key[] = [];
  let rest = field.replace(/^\./, "");
  let at = value;
  while (rest !== "") {
    const [key, after] = nextKey(rest, at);
    path.push(key);
    at = valueAt(at, [key]);
    rest = after;
  }
  return path;
}

function nextKey(text: string, at: Json | undefined): [Key, string] {
  const bracket = /^\[([^\]]*)\]\.?/.exec(text);
  if (bracket) {
    const inside = (bracket[1] ?? "").replace(/^"(.*)"$/, "$1");
    const index = Array.isArray(at) && /^\d+$/.test(inside);
    return [index ? Number(inside) : inside, text.slice(bracket[0].length)];
  }
  const known = Object.keys(isObject(at) ? at : {})
    .filter((key) => key !== "" && text.startsWith(key) && /^($|[.[])/.test(text.slice(key.length)))
    .sort((a, b) => b.length - a.length)[0];
  const key = known ?? /^[^.[]*/.exec(text)?.[0] ?? "";
  // A path that begins with neither a key nor a bracket, such as "..": one character goes on.
  if (key === "") return [text.slice(0, 1), text.slice(1)];
  return [key, text.slice(key.length).replace(/^\./, "")];
}
