// Where the specs of several jobs differ: one row for each field that is not the same in all.

export interface Difference {
  /** As people name a field: "trainer.optimizer.learningRate", "volumes[data].mountPath". */
  path: string;
  /** In the order of the specs; undefined: that one has no such field. */
  values: (string | undefined)[];
}

type Leaves = Map<string, string>;

/** undefined stands for a spec that is not known; it is left out, and its values stay empty. */
export function differences(specs: readonly unknown[]): Difference[] {
  const known = specs.filter((spec) => spec !== undefined);
  if (known.length < 2) return [];
  const leaves = specs.map((spec) => {
    const found: Leaves = new Map();
    if (spec !== undefined) collect(spec, "", found);
    return found;
  });
  const paths = new Set(leaves.flatMap((one) => [...one.keys()]));
  return [...paths]
    .map((path) => ({ path, values: leaves.map((one) => one.get(path)) }))
    .filter(({ values }) => differs(values.filter((_, index) => specs[index] !== undefined)))
    .sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
}

function differs(values: (string | undefined)[]): boolean {
  return values.some((value) => value !== values[0]);
}

function collect(value: unknown, path: string, into: Leaves): void {
  if (Array.isArray(value) && value.some(isObject)) {
    value.forEach((one, index) => collect(one, `${path}[${nameOf(one) ?? index}]`, into));
  } else if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, one] of Object.entries(value)) {
      collect(one, path === "" ? key : `${path}.${key}`, into);
    }
  } else {
    // Of a list of words or numbers nobody looks for the place of one.
    into.set(path, typeof value === "string" ? value : JSON.stringify(value));
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Volumes, containers and variables are known by their names, wherever they stand.
function nameOf(value: unknown): string | undefined {
  return isObject(value) && typeof value.name === "string" ? value.name : undefined;
}
