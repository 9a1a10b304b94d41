// The colour of a replica: one of twelve that are legible on the page's ground in both themes. The
// same for the same name always; the name stands beside it, since many replicas share one.

export const REPLICA_LIGHT = [
  "#0b5fae",
  "#9a4a00",
  "#1a7340",
  "#a3195b",
  "#6a3fb5",
  "#00707a",
  "#8a5a00",
  "#b3261e",
  "#3f6212",
  "#7a2e8e",
  "#3d4db8",
  "#6b4f3a",
];

export const REPLICA_DARK = [
  "#7cc0ff",
  "#ffab70",
  "#7bd69a",
  "#ff9cc5",
  "#c4a8ff",
  "#6fd6de",
  "#f0c565",
  "#ff9a90",
  "#b5d96a",
  "#e6a5f2",
  "#a9b6ff",
  "#d9bfa6",
];

// So that a job's chief, its first parameter servers and its first workers differ.
const ROLE_FIRST: Record<string, number> = {
  chief: 0,
  master: 0,
  evaluator: 7,
  ps: 1,
  worker: 2,
};

/** "worker-1" → ["worker", 1] */
export function partsOfReplica(name: string): [role: string, index: number] {
  const dash = name.lastIndexOf("-");
  const index = Number(name.slice(dash + 1));
  return dash < 0 || !Number.isInteger(index) ? [name, 0] : [name.slice(0, dash), index];
}

export function colourOfReplica(name: string): number {
  const [role, index] = partsOfReplica(name);
  // Parameter servers take every third, so that they seldom share one with a worker.
  const step = role === "ps" ? 3 : 1;
  return ((ROLE_FIRST[role] ?? 5) + index * step) % REPLICA_LIGHT.length;
}

/** For style={}: the variables that logs.css uses. */
export function replicaVariables(dark: boolean): Record<string, string> {
  const colours = dark ? REPLICA_DARK : REPLICA_LIGHT;
  return Object.fromEntries(colours.map((colour, i) => [`--logs-replica-${i}`, colour]));
}

const ROLE_ORDER = ["chief", "master", "ps", "worker", "evaluator"];

/** Chief, parameter servers, workers, evaluators; each by index. */
export function compareReplicas(a: string, b: string): number {
  const [roleA, indexA] = partsOfReplica(a);
  const [roleB, indexB] = partsOfReplica(b);
  const place = (role: string): number => (ROLE_ORDER.indexOf(role) + 1 || ROLE_ORDER.length + 1);
  return place(roleA) - place(roleB) || indexA - indexB || a.localeCompare(b);
}
