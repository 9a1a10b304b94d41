// How long a bundled model trains: a line, which becomes a field when one wants to change it.

import { Button } from "antd";
import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { useText } from "../../../i18n";
import type { Path } from "../manifest/path";
import { textOf } from "../manifest/path";
import { NumberField } from "./controls";
import { useField } from "./editing";

const STEPS: Path = ["spec", "trainer", "maxSteps"];

export function StepsField(): ReactNode {
  const { t, format } = useText();
  const { id, value, issues, disabled } = useField(STEPS);
  const [open, setOpen] = useState<"no" | "asked" | "wrong">("no");
  // It stays open when the problem is gone: whoever mends it still types.
  if (open === "no" && issues.length > 0) setOpen("wrong");
  useEffect(() => {
    if (open === "asked") document.getElementById(id)?.focus();
  }, [open, id]);
  if (open !== "no") {
    return (
      <NumberField path={STEPS} label={t.submit.field.maxSteps} hint={t.submit.hint.maxSteps} />
    );
  }
  const shown = typeof value === "number" ? format.number(value) : textOf(value);
  return (
    <div className="submit-field-wide submit-inline">
      <span className="muted">{t.submit.steps.trains(shown)}</span>
      <Button type="link" size="small" disabled={disabled} onClick={() => setOpen("asked")}>
        {t.submit.steps.change}
      </Button>
    </div>
  );
}
