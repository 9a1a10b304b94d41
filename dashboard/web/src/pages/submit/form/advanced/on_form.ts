// Which places of a manifest have a control on the form: what is wrong elsewhere is to be mended in
// the YAML.

import type { JobKind } from "../../../../api/types";
import type { Texts } from "../../../../i18n/en";
import type { Json, Path } from "../../manifest/path";
import { isWithin, samePath, valueAt } from "../../manifest/path";
import { DATA } from "../../model/data";
import { NAME, NAMESPACE } from "../../model/fields";
import { programOf, rolesOf } from "../../model/roles";
import type { FieldSpec } from "../ScalarField";
import { lifetimeFields, savingFields, schedulingFields, trainingFields } from "./sections";

/** A control is for all that is in its place; one of a part with fields of its own only for it. */
interface Control {
  path: Path;
  exact?: boolean;
}

export function controlsOf(kind: JobKind, value: Json, words: Texts["submit"]): Control[] {
  const { queue, fields } = schedulingFields(kind);
  const bundled = programOf(kind, value) === "bundled";
  return [
    ...[NAME, NAMESPACE, ["metadata", "labels"], ["metadata", "annotations"], queue].map(whole),
    // A role's card has all that is wrong with it.
    ...rolesOf(kind, value).map(({ path }) => ({ path })),
    ...fields.map(controlOf),
    ...lifetimeFields(kind, value, words).map(controlOf),
    ...(bundled ? trainerControls(value) : []),
    ...(kind === "TrainingJob" ? volumeControls(value) : []),
  ];
}

export function isOnForm(controls: readonly Control[], path: Path): boolean {
  return controls.some((one) =>
    one.exact ? samePath(path, one.path) : isWithin(path, one.path),
  );
}

function whole(path: Path): Control {
  return { path };
}

function controlOf({ path, fresh }: FieldSpec): Control {
  return fresh === undefined ? { path } : { path, exact: true };
}

function trainerControls(value: Json): Control[] {
  const at = (...keys: string[]): Path => ["spec", "trainer", ...keys];
  const data = (...keys: string[]): Path => [...DATA, ...keys];
  const format = valueAt(value, data("format"));
  const generated = format === "generated";
  const idx = format === undefined || format === "idx";
  const made = ["examples", "testExamples", "features", "classes"];
  const files = ["train", "test"].flatMap((part) => [data(part, "images"), data(part, "labels")]);
  const source = generated ? made.map((key) => data("generated", key)) : idx ? files : [];
  const paths = [at("model", "name"), at("model", "hidden"), at("optimizer", "name")];
  return [
    ...[...paths, data("format"), ...source].map(whole),
    ...(idx ? [{ path: data("test"), exact: true }] : []),
    ...[...trainingFields(value), ...savingFields(value)].map(controlOf),
  ];
}

function volumeControls(value: Json): Control[] {
  const around: Path = ["spec", "volumes"];
  const list = valueAt(value, around);
  const each = (Array.isArray(list) ? list : []).flatMap((_, index): Control[] => {
    const at = (...keys: string[]): Path => [...around, index, ...keys];
    return [
      ...[at("name"), at("mountPath"), at("readOnly"), at("roles")].map(whole),
      { path: at("source", "persistentVolumeClaim", "claimName") },
      { path: at(), exact: true },
      { path: at("source"), exact: true },
    ];
  });
  return [{ path: around, exact: true }, ...each];
}
