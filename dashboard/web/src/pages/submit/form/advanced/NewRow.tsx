// Two inputs and a button that add a name with its value.

import { PlusOutlined } from "@ant-design/icons";
import { Button, Input } from "antd";
import type { KeyboardEvent, ReactNode } from "react";
import { useState } from "react";
import { useText } from "../../../../i18n";

interface Props {
  id: string;
  /** What the rows are, for the names of the inputs. */
  what: string;
  disabled: boolean;
  onAdd: (name: string, value: string) => void;
}

export function NewRow({ id, what, disabled, onAdd }: Props): ReactNode {
  const { t } = useText();
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const add = (): void => {
    if (name.trim() === "") return;
    onAdd(name.trim(), value);
    setName("");
    setValue("");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // The Enter that ends a composition of characters is not ours.
    if (event.key === "Enter" && !event.nativeEvent.isComposing) add();
  };
  const shared = { disabled, autoComplete: "off", spellCheck: false, className: "mono", onKeyDown };
  return (
    <div className="submit-row">
      <Input
        {...shared}
        id={id}
        aria-label={t.submit.rows.newKey(what)}
        placeholder={t.submit.rows.key}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Input
        {...shared}
        aria-label={t.submit.rows.newValue(what)}
        placeholder={t.submit.rows.value}
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
      <Button
        aria-label={t.submit.rows.addTo(what)}
        icon={<PlusOutlined />}
        disabled={disabled || name.trim() === ""}
        onClick={add}
      />
    </div>
  );
}
