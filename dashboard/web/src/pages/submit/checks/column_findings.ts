// Of feature columns, what the bundled trainer refuses and no schema says: columns that do not fit
// the features of the records or the model. The twin of CheckColumns in
// operator/api/trainer_checks.cc.
//
//   columnFindings(trainer.data, trainer.model, ownModel);

import type { Json, JsonObject, Path } from "../manifest/path";
import { isObject, valueAt } from "../manifest/path";

export type ColumnFinding =
  | { path: Path; code: "mustGrow" | "needsColumns" }
  | { path: Path; code: "noColumn" | "noFeature"; name: string }
  | { path: Path; code: "hasCategories"; type: string; name: string };

const TRAINER: Path = ["spec", "trainer"];
const COLUMNS: Path = [...TRAINER, "data", "columns"];

/** `ownModel`: of a name that the bundled trainer does not know, which takes what it likes. */
export function columnFindings(
  data: Json | undefined,
  model: Json | undefined,
  ownModel: boolean,
): ColumnFinding[] {
  const columns = objectsAt(data, ["columns"]);
  const name = valueAt(model, ["name"]);
  const found = columns.flatMap((column, index) => [
    ...boundaryFindings(column.boundaries, [...COLUMNS, index, "boundaries"]),
    ...(ownModel ? [] : categoryFindings(column.type, name, [...COLUMNS, index, "type"])),
  ]);
  if (name === "wideDeep") found.push(...wideDeepFindings(model, columns));
  const features = valueAt(data, ["tfrecord", "features"]);
  if (Array.isArray(features)) found.push(...sourceFindings(columns, namesOf(features)));
  return found;
}

/** Of a list that must ascend: those of a decay, too. */
export function boundaryFindings(boundaries: Json | undefined, path: Path): ColumnFinding[] {
  if (!Array.isArray(boundaries)) return [];
  const grows = boundaries.every((one, i) => i === 0 || Number(boundaries[i - 1]) < Number(one));
  return grows ? [] : [{ path, code: "mustGrow" }];
}

/** Ids of categories are no quantities. */
function categoryFindings(
  type: Json | undefined,
  name: Json | undefined,
  path: Path,
): ColumnFinding[] {
  if (typeof type !== "string" || type === "numeric") return [];
  if (typeof name !== "string" || name === "wideDeep") return [];
  return [{ path, code: "hasCategories", type, name }];
}

function wideDeepFindings(model: Json | undefined, columns: JsonObject[]): ColumnFinding[] {
  if (columns.length === 0) return [{ path: COLUMNS, code: "needsColumns" }];
  const names = namesOf(columns);
  const wide = valueAt(model, ["wide"]);
  const deep = objectsAt(model, ["deep"]);
  const at = [...TRAINER, "model"];
  return [
    ...(Array.isArray(wide) ? wide : []).map((name, index) => ({
      name,
      path: [...at, "wide", index],
    })),
    ...deep.map(({ column }, index) => ({ name: column, path: [...at, "deep", index, "column"] })),
  ].flatMap(({ name, path }): ColumnFinding[] =>
    typeof name === "string" && !names.has(name) ? [{ path, code: "noColumn", name }] : [],
  );
}

/** A column takes a feature of the records, or of a cross an earlier column. */
function sourceFindings(columns: JsonObject[], features: Set<string>): ColumnFinding[] {
  const names = namesOf(columns);
  return columns.flatMap((column, index) => {
    const { type, source, sources } = column;
    const at = [...COLUMNS, index];
    const crossed = (Array.isArray(sources) ? sources : []).map((name, i) => ({
      name,
      path: [...at, "sources", i],
      known: typeof name === "string" && names.has(name),
    }));
    const field = (source ?? null) === null ? "name" : "source";
    const own =
      type === "crossed" ? [] : [{ name: column[field], path: [...at, field], known: false }];
    return [...crossed, ...own].flatMap(({ name, path, known }): ColumnFinding[] => {
      if (known || typeof name !== "string" || features.has(name)) return [];
      return [{ path, code: "noFeature", name }];
    });
  });
}

function objectsAt(value: Json | undefined, path: Path): JsonObject[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? list.map((one) => (isObject(one) ? one : {})) : [];
}

function namesOf(list: Json[]): Set<string> {
  return new Set(
    list.flatMap((one) => (isObject(one) && typeof one.name === "string" ? [one.name] : [])),
  );
}
