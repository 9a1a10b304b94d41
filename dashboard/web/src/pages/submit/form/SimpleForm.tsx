// The five things that a job needs: a name, what runs, its data, how many workers, GPUs.

import { Button } from "antd";
import type { ReactNode } from "react";
import { useLiveJobs } from "../../../api/use_stream";
import { useNamespaces } from "../../../app/namespace";
import { useText } from "../../../i18n";
import { NAME, NAMESPACE } from "../model/fields";
import { valueAt } from "../manifest/path";
import { freeName, nameLengthMax, nameLike } from "../model/names";
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
  const { manifest, issues } = useEditing();
  const name = valueAt(manifest.value, NAME);
  const wrong = issues.filter(({ path }) => path.join() === NAME.join());
  if (wrong.length === 0 || typeof name !== "string" || name === "") return null;
  return <FreeName name={name} />;
}

/** Only while it shows does the stream have to carry all jobs. */
function FreeName({ name }: { name: string }): ReactNode {
  const { t } = useText();
  const { rows } = useLiveJobs();
  const { kind, manifest, namespace, disabled, apply } = useEditing();
  // Of either kind: pods and directories are called after the job, whatever it is.
  const here = rows.filter((row) => row.namespace === namespace);
  const taken = new Set(here.map((row) => row.name));
  const max = nameLengthMax(kind, manifest.value);
  const like = nameLike(name, max);
  const fits = like !== name && !taken.has(like);
  const proposal = fits || like === "" ? like : freeName(like, max, taken);
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
