// TF_CONFIG of a pod: who it was told to be, and which replica it was told to find where.
//
// The list of a large job stands in a ConfigMap, to which TF_CONFIG refers with $(TAAS_CLUSTER):
// docs/design/0007. Its name ends in a hash of what it says, so equal names are equal lists.
//
//   const told = readTfConfig(container.env);
//   const other = compareTold(told, readTfConfig(otherContainer.env));

import type { Container, EnvEntry } from "./pod_object";

export interface Told {
  raw: string;
  /** Where the list is: in the pod, in a ConfigMap, or nowhere that can be read. */
  list: "inline" | "configMap" | "unreadable";
  configMap?: string;
  /** "worker-1" → address. */
  cluster: Map<string, string>;
  /** Of enableDynamicWorker: a replica is told of few others. */
  sparse: boolean;
  task?: { type: string; index: number };
  environment?: string;
}

const CLUSTER_VARIABLE = "TAAS_CLUSTER";
const REFERENCE = `$(${CLUSTER_VARIABLE})`;

/** The container that is the replica's program: the only one that gets TF_CONFIG. */
export function programOf(containers: readonly Container[]): Container | undefined {
  const main = containers.filter((container) => !container.init);
  return main.find((one) => one.env.some((entry) => entry.name === "TF_CONFIG")) ?? main[0];
}

/** undefined: the pod has none, as of a TFJob of one replica. */
export function readTfConfig(env: readonly EnvEntry[]): Told | undefined {
  // Of two of one name the later one counts.
  const entry = env.findLast((one) => one.name === "TF_CONFIG");
  if (!entry) return undefined;
  const told: Told = {
    raw: entry.value ?? "",
    list: "unreadable",
    cluster: new Map(),
    sparse: false,
  };
  const refers = told.raw.includes(REFERENCE);
  let config: unknown;
  try {
    config = JSON.parse(refers ? told.raw.replace(REFERENCE, "null") : told.raw);
  } catch {
    return told;
  }
  if (!isFields(config)) return told;
  if (isFields(config.task)) {
    told.task = { type: String(config.task.type), index: Number(config.task.index) };
  }
  if (typeof config.environment === "string") told.environment = config.environment;
  if (refers) {
    const from = env.findLast((one) => one.name === CLUSTER_VARIABLE)?.from;
    told.configMap = from?.kind === "configMap" ? from.name : undefined;
    if (told.configMap !== undefined) told.list = "configMap";
  } else if (isFields(config.cluster)) {
    told.list = "inline";
    readCluster(config.cluster, told);
  }
  return told;
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readCluster(cluster: Record<string, unknown>, told: Told): void {
  for (const [role, members] of Object.entries(cluster)) {
    if (isFields(members)) told.sparse = true;
    else if (!Array.isArray(members)) continue;
    for (const [index, address] of Object.entries(members as object)) {
      if (typeof address === "string") told.cluster.set(`${role}-${index}`, address);
    }
  }
}

export interface Difference {
  /** Both name it, at different addresses. */
  moved: { name: string; mine: string; theirs: string }[];
  onlyMine: string[];
  onlyTheirs: string[];
  /** Different ConfigMaps, whose texts are not known here. */
  otherList?: { mine: string; theirs: string };
}

export function compareTold(mine: Told, theirs: Told): Difference {
  const difference: Difference = { moved: [], onlyMine: [], onlyTheirs: [] };
  if (mine.list !== "inline" || theirs.list !== "inline") {
    // An evaluator that alone sees itself has its list in its own pod.
    const mixed = mine.list !== theirs.list;
    if (!mixed && mine.configMap !== theirs.configMap) {
      difference.otherList = { mine: mine.configMap ?? "", theirs: theirs.configMap ?? "" };
    }
    return difference;
  }
  // What only the evaluator is told of itself, and what few are told, is as it should be.
  const listed = (name: string): boolean =>
    !name.startsWith("evaluator-") && !mine.sparse && !theirs.sparse;
  for (const [name, address] of mine.cluster) {
    const other = theirs.cluster.get(name);
    if (other === undefined) {
      if (listed(name)) difference.onlyMine.push(name);
    } else if (other !== address) {
      difference.moved.push({ name, mine: address, theirs: other });
    }
  }
  for (const name of theirs.cluster.keys()) {
    if (!mine.cluster.has(name) && listed(name)) difference.onlyTheirs.push(name);
  }
  return difference;
}

export function isSame({ moved, onlyMine, onlyTheirs, otherList }: Difference): boolean {
  return moved.length + onlyMine.length + onlyTheirs.length === 0 && !otherList;
}
