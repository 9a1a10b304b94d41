// Volumes of a TrainingJob: what is mounted where, in which roles.

import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Select } from "antd";
import type { ReactNode } from "react";
import { useText } from "../../../../i18n";
import type { Json, Path } from "../../manifest/path";
import { isObject, valueAt } from "../../manifest/path";
import { volumeOps } from "../../model/data";
import { listOps } from "../../model/lists";
import { TextField } from "../controls";
import { idOf, useEditing } from "../editing";
import { Field, IssueList } from "../Field";
import { ScalarField } from "../ScalarField";

const VOLUMES: Path = ["spec", "volumes"];
const NEW_CLAIM = "data";

export function VolumesSection(): ReactNode {
  const { t } = useText();
  const { kind, manifest, issues, disabled, apply } = useEditing();
  if (kind === "TFJob") return <p className="muted">{t.submit.volumes.inYaml}</p>;
  const volumes = valueAt(manifest.value, VOLUMES);
  const list = Array.isArray(volumes) ? volumes : [];
  const whole = issues.filter(({ path }) => path.join() === VOLUMES.join());
  return (
    <>
      <div className="submit-cards">
        {list.map((volume, index) => (
          <VolumeCard key={index} path={[...VOLUMES, index]} volume={volume} />
        ))}
      </div>
      <IssueList id={`${idOf(VOLUMES)}-issues`} issues={whole} />
      <Button
        id={idOf(VOLUMES)}
        icon={<PlusOutlined aria-hidden />}
        disabled={disabled}
        onClick={() => apply(volumeOps(kind, manifest.value, NEW_CLAIM))}
      >
        {t.submit.volumes.add}
      </Button>
    </>
  );
}

function VolumeCard({ path, volume }: { path: Path; volume: Json }): ReactNode {
  const { t } = useText();
  const { disabled, issues, apply } = useEditing();
  const fields = isObject(volume) ? volume : {};
  const name = typeof fields.name === "string" ? fields.name : "";
  const sort = Object.keys(isObject(fields.source) ? fields.source : {})[0] ?? "";
  const source = [...path, "source"];
  const around = issues.filter((issue) => [path.join(), source.join()].includes(issue.path.join()));
  return (
    <section className="submit-card" aria-label={t.submit.volumes.one(name)}>
      <div className="submit-card-head">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <Button
          type="text"
          size="small"
          aria-label={t.submit.volumes.remove(name)}
          icon={<DeleteOutlined />}
          disabled={disabled}
          onClick={() => apply([{ remove: path, keep: 1 }])}
        />
      </div>
      <IssueList id={`${idOf(path)}-issues`} issues={around} />
      <div className="submit-grid submit-grid-small">
        <ScalarField path={[...path, "name"]} label="volumeName" />
        <ScalarField path={[...path, "mountPath"]} label="mountPath" />
        {sort === "persistentVolumeClaim" ? (
          <TextField
            path={[...source, "persistentVolumeClaim", "claimName"]}
            label={t.submit.field.claimName}
          />
        ) : (
          <p className="submit-field muted">{t.submit.data.otherSort(sort)}</p>
        )}
        <ScalarField path={[...path, "readOnly"]} label="readOnly" />
        <VolumeRoles path={[...path, "roles"]} />
      </div>
    </section>
  );
}

const ROLES = ["chief", "ps", "worker", "evaluator"];

function VolumeRoles({ path }: { path: Path }): ReactNode {
  const { t } = useText();
  const { apply } = useEditing();
  return (
    <Field path={path} label={t.submit.field.volumeRoles} hint={t.submit.hint.volumeRoles} wide>
      {(control, { value }) => (
        <Select<string[]>
          {...control}
          className="submit-choice"
          mode="multiple"
          virtual={false}
          value={Array.isArray(value) ? value.map(String) : []}
          options={ROLES.map((role) => ({ value: role, label: role }))}
          onChange={(next) => apply(listOps(path, value, next))}
        />
      )}
    </Field>
  );
}
