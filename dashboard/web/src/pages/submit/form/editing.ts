// What every field of the form needs: the manifest, a way to change it, and what is wrong with it.

import { createContext, useContext } from "react";
import type { JobKind } from "../../../api/types";
import type { Issue } from "../checks/issues";
import { issuesWithin } from "../checks/issues";
import type { Op } from "../manifest/edit";
import type { Json, Path } from "../manifest/path";
import { pathText, valueAt } from "../manifest/path";
import type { Manifest } from "../manifest/read";

export interface Editing {
  kind: JobKind;
  manifest: Manifest;
  /** The text cannot be read now: the form shows an older one and changes nothing. */
  disabled: boolean;
  /** Where the job goes that names none. */
  namespace: string;
  issues: readonly Issue[];
  /** Some control shows what is wrong there. */
  isOnForm: (path: Path) => boolean;
  apply: (ops: readonly Op[]) => void;
}

const EditingContext = createContext<Editing | undefined>(undefined);
export const EditingProvider = EditingContext.Provider;

export function useEditing(): Editing {
  const editing = useContext(EditingContext);
  if (!editing) throw new Error("useEditing() outside of EditingProvider");
  return editing;
}

/** Of the element that edits `path`. */
export function idOf(path: Path): string {
  return `submit-${pathText(path).replaceAll(/[^\w]+/g, "-")}`;
}

export interface FieldState {
  id: string;
  value: Json | undefined;
  issues: Issue[];
  disabled: boolean;
}

export function useField(path: Path): FieldState {
  const { manifest, issues, disabled } = useEditing();
  return {
    id: idOf(path),
    value: valueAt(manifest.value, path),
    issues: issuesWithin(issues, path),
    disabled,
  };
}
