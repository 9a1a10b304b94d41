// Whose job it is, and its labels and annotations.

import { DeleteOutlined } from "@ant-design/icons";
import { Button, Input } from "antd";
import type { ReactNode } from "react";
import { useSession } from "../../../../app/session";
import { useText } from "../../../../i18n";
import { OWNER } from "../../model/fields";
import type { Path } from "../../manifest/path";
import { isObject } from "../../manifest/path";
import { TextField } from "../controls";
import { idOf, useEditing, useField } from "../editing";
import { IssueList } from "../Field";
import { NewRow } from "./NewRow";

export function MetadataSection(): ReactNode {
  const { t } = useText();
  return (
    <div className="submit-grid">
      <OwnerField />
      <MapRows path={["metadata", "labels"]} what={t.submit.field.labels} />
      <MapRows path={["metadata", "annotations"]} what={t.submit.field.annotations} />
    </div>
  );
}

function OwnerField(): ReactNode {
  const { t } = useText();
  const { user } = useSession();
  const { apply } = useEditing();
  const { value, disabled } = useField(OWNER);
  return (
    <TextField
      path={OWNER}
      keep={1}
      wide
      label={t.submit.field.owner}
      hint={t.submit.hint.owner}
      placeholder={t.submit.hint.ownerNone}
      extra={
        value !== user && (
          <Button
            type="link"
            size="small"
            disabled={disabled}
            onClick={() => apply([{ set: OWNER, value: user }])}
          >
            {t.submit.owner.mine(user)}
          </Button>
        )
      }
    />
  );
}

function MapRows({ path, what }: { path: Path; what: string }): ReactNode {
  const { value, issues, disabled } = useField(path);
  const { apply } = useEditing();
  const entries = Object.entries(isObject(value) ? value : {});
  return (
    <fieldset className="submit-rows submit-field-wide">
      <legend>{what}</legend>
      {entries.map(([key]) => (
        <MapRow key={key} path={[...path, key]} name={key} />
      ))}
      <IssueList
        id={`${idOf(path)}-issues`}
        issues={issues.filter((issue) => issue.path.length <= path.length)}
      />
      <NewRow
        id={idOf(path)}
        what={what}
        disabled={disabled}
        onAdd={(key, text) => apply([{ set: [...path, key], value: text }])}
      />
    </fieldset>
  );
}

function MapRow({ path, name }: { path: Path; name: string }): ReactNode {
  const { t } = useText();
  const { apply } = useEditing();
  const { value, issues, disabled, id } = useField(path);
  const text = typeof value === "object" ? JSON.stringify(value) : String(value ?? "");
  return (
    <>
      <div className="submit-row">
        <bdi className="mono submit-row-key">{name}</bdi>
        <Input
          id={id}
          className="mono"
          aria-label={t.submit.rows.valueOf(name)}
          aria-describedby={`${id}-issues`}
          value={text}
          disabled={disabled}
          status={issues.length > 0 ? "error" : ""}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => apply([{ set: path, value: event.target.value }])}
        />
        <Button
          type="text"
          aria-label={t.submit.rows.remove(name)}
          icon={<DeleteOutlined />}
          disabled={disabled}
          onClick={() => apply([{ remove: path, keep: 1 }])}
        />
      </div>
      <IssueList id={`${id}-issues`} issues={issues} />
    </>
  );
}
