// Fields whose control follows from the schema.

import type { ReactNode } from "react";
import { useText } from "../../../i18n";
import type { Texts } from "../../../i18n/en";
import type { Json, Path } from "../manifest/path";
import { schemaAt } from "../schema/lookup";
import type { ScalarProps } from "./controls";
import {
  ChoiceField,
  countOrText,
  NumberField,
  PartField,
  SwitchField,
  TextField,
} from "./controls";
import { useEditing } from "./editing";

export interface FieldSpec {
  path: Path;
  label: keyof Texts["submit"]["field"];
  hint?: keyof Texts["submit"]["hint"];
  keep?: number;
  meaning?: (value: string) => string | undefined;
  short?: boolean;
  /** Of a part that is there or not: what it begins with. */
  fresh?: Json;
}

export function ScalarField(spec: FieldSpec): ReactNode {
  const { path, label, hint, keep, meaning, short, fresh } = spec;
  const { t } = useText();
  const { kind } = useEditing();
  const schema = schemaAt(kind, path);
  const words = hint === undefined ? undefined : t.submit.hint[hint];
  const props: ScalarProps = {
    path,
    label: t.submit.field[label],
    ...(typeof words === "string" ? { hint: words } : {}),
    ...(keep === undefined ? {} : { keep }),
  };
  if (fresh !== undefined) return <PartField {...props} fresh={fresh} />;
  if (schema?.enum) {
    return (
      <ChoiceField {...props} {...(meaning ? { meaning } : {})} {...(short ? { short } : {})} />
    );
  }
  if (schema?.type === "boolean") return <SwitchField {...props} />;
  if (schema?.type === "integer" || schema?.type === "number") return <NumberField {...props} />;
  if (schema?.["x-kubernetes-int-or-string"]) return <TextField {...props} parse={countOrText} />;
  return <TextField {...props} />;
}

export function Fields({ specs }: { specs: FieldSpec[] }): ReactNode {
  return (
    <div className="submit-grid">
      {specs.map((spec) => (
        <ScalarField key={spec.path.join(".")} {...spec} />
      ))}
    </div>
  );
}
