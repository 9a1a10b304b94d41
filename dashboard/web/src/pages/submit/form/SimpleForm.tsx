// The five things that a job needs: a name, what runs, its data, how many workers, GPUs.

import { Button } from "antd";
import type { ReactNode } from "react";
import { useNamespaces } from "../../../app/namespace";
import { useText } from "../../../i18n";
import { NAME, NAMESPACE } from "../model/fields";
import { valueAt } from "../manifest/path";
import { nameLengthMax, nameLike, nextName } from "../model/names";
import { programOf } from "../model/roles";
import { SuggestField, TextField } from "./controls";
import { DataGroup } from "./DataGroup";
import { useEditing } from "./editing";
import { Group } from "./Group";
import { ProgramGroup } from "./ProgramGroup";
import type { SwitchProgram } from "./ProgramGroup";
import { ScaleGroups } from "./ScaleGroups";

export function SimpleForm({ onSwitch }: { onSwitch: SwitchProgram }): ReactNode {
  const { kind, manifest } = useEditing();
  return (
    <>
      <NameGroup />
      <ProgramGroup onSwitch={onSwitch} />
      <DataGroup key={programOf(kind, manifest.value)} />
      <ScaleGroups />
    </>
  );
}

function NameGroup(): ReactNode {
  const { t } = useText();
  const namespaces = useNamespaces();
  const { kind, manifest, namespace } = useEditing();
  const max = nameLengthMax(kind, manifest.value);
  return (
    <Group title={t.submit.group.name}>
      <TextField
        path={NAME}
        label={t.submit.field.name}
        hint={t.submit.hint.nameMax(max)}
        extra={<NameProposal />}
      />
      <SuggestField
        path={NAMESPACE}
        label={t.submit.field.namespace}
        hint={t.submit.hint.namespace}
        placeholder={namespace}
        options={namespaces.map((value) => ({ value }))}
      />
    </Group>
  );
}

/** Where the name is wrong or taken: one that is not. */
function NameProposal(): ReactNode {
  const { t } = useText();
  const { kind, manifest, issues, disabled, apply } = useEditing();
  const name = valueAt(manifest.value, NAME);
  const wrong = issues.filter(({ path }) => path.join() === NAME.join());
  if (wrong.length === 0 || typeof name !== "string" || name === "") return null;
  const max = nameLengthMax(kind, manifest.value);
  const like = nameLike(name, max);
  const proposal = like === name ? nextName(name, max) : like;
  if (proposal === "" || proposal === name) return null;
  return (
    <Button
      type="link"
      size="small"
      disabled={disabled}
      onClick={() => apply([{ set: NAME, value: proposal }])}
    >
      {t.submit.hint.nameUse(proposal)}
    </Button>
  );
}
