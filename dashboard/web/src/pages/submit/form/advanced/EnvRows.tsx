// Environment variables: a list of names and values.

import { DeleteOutlined } from "@ant-design/icons";
import { Button, Input } from "antd";
import type { ReactNode } from "react";
import { useText } from "../../../../i18n";
import { issuesWithin } from "../../checks/issues";
import type { Path } from "../../manifest/path";
import { isObject, textOf } from "../../manifest/path";
import { idOf, useEditing, useField } from "../editing";
import { IssueList } from "../Field";
import { NewRow } from "./NewRow";

export function EnvRows({ path }: { path: Path }): ReactNode {
  const { t } = useText();
  const { value, issues, disabled } = useField(path);
  const { apply } = useEditing();
  const list = Array.isArray(value) ? value : [];
  const label = t.submit.field.env;
  return (
    <fieldset className="submit-rows submit-field-wide">
      <legend>{label}</legend>
      {list.map((item, index) => (
        <EnvRow
          key={index}
          path={[...path, index]}
          fromElsewhere={isObject(item) && "valueFrom" in item}
        />
      ))}
      <IssueList
        id={`${idOf(path)}-issues`}
        issues={issues.filter((issue) => issue.path.length <= path.length)}
      />
      <NewRow
        id={idOf(path)}
        what={label}
        disabled={disabled}
        onAdd={(name, text) => apply([{ add: path, value: { name, value: text } }])}
      />
    </fieldset>
  );
}

function EnvRow({ path, fromElsewhere }: { path: Path; fromElsewhere: boolean }): ReactNode {
  const { t } = useText();
  const { apply } = useEditing();
  const { value, issues, disabled, id } = useField(path);
  const item = isObject(value) ? value : {};
  const name = typeof item.name === "string" ? item.name : "";
  const label = t.submit.field.env;
  const wrong = (field: string): "" | "error" =>
    issuesWithin(issues, [...path, field]).length > 0 ? "error" : "";
  return (
    <>
      <div className="submit-row">
        <Input
          id={idOf([...path, "name"])}
          className="mono"
          aria-label={t.submit.rows.keyOf(label)}
          aria-describedby={`${id}-issues`}
          value={name}
          disabled={disabled}
          status={wrong("name")}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => apply([{ set: [...path, "name"], value: event.target.value }])}
        />
        {fromElsewhere ? (
          <span className="submit-row-other muted">{t.submit.rows.elsewhere}</span>
        ) : (
          <Input
            id={idOf([...path, "value"])}
            className="mono"
            aria-label={t.submit.rows.valueOf(name)}
            aria-describedby={`${id}-issues`}
            value={textOf(item.value)}
            disabled={disabled}
            status={wrong("value")}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => apply([{ set: [...path, "value"], value: event.target.value }])}
          />
        )}
        <Button
          type="text"
          aria-label={t.submit.rows.remove(name)}
          icon={<DeleteOutlined />}
          disabled={disabled}
          onClick={() => apply([{ remove: path, keep: path.length - 2 }])}
        />
      </div>
      <IssueList id={`${id}-issues`} issues={issues} />
    </>
  );
}
