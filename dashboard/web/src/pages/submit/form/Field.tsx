// A label, a control, a hint, and what is wrong: tied together for eyes and for screen readers.

import { CloseCircleFilled, WarningFilled } from "@ant-design/icons";
import type { ReactNode } from "react";
import { useText } from "../../../i18n";
import type { Issue } from "../checks/issues";
import { issueKey } from "../checks/issues";
import type { Path } from "../manifest/path";
import { samePath } from "../manifest/path";
import type { FieldState } from "./editing";
import { useField } from "./editing";

/** For the control: which label, hint and problems are its own. */
export interface ControlProps {
  id: string;
  disabled: boolean;
  status: "" | "error" | "warning";
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

interface Props {
  path: Path;
  label: string;
  hint?: ReactNode;
  /** Something beside the label. */
  extra?: ReactNode;
  wide?: boolean;
  /** Problems that are not in the manifest, such as of what is being typed. */
  more?: readonly Issue[];
  /** What is inside of it has fields of its own. */
  exact?: boolean;
  children: (control: ControlProps, field: FieldState) => ReactNode;
}

export function Field(props: Props): ReactNode {
  const { path, label, hint, extra, wide, more = [], exact, children } = props;
  const field = useField(path);
  const own = exact ? field.issues.filter((one) => samePath(one.path, path)) : field.issues;
  const issues = [...more, ...own];
  const control = controlOf(field, issues, hint !== undefined);
  return (
    <div className={wide ? "submit-field submit-field-wide" : "submit-field"}>
      <div className="submit-label">
        <label htmlFor={field.id}>{label}</label>
        {extra}
      </div>
      {children(control, field)}
      {hint !== undefined && (
        <div id={`${field.id}-hint`} className="submit-hint">
          {hint}
        </div>
      )}
      <IssueList id={`${field.id}-issues`} issues={issues} />
    </div>
  );
}

function controlOf(field: FieldState, issues: readonly Issue[], hint: boolean): ControlProps {
  const error = issues.some(({ severity }) => severity === "error");
  const described = [
    issues.length > 0 ? `${field.id}-issues` : "",
    hint ? `${field.id}-hint` : "",
  ].filter((id) => id !== "");
  return {
    id: field.id,
    disabled: field.disabled,
    status: error ? "error" : issues.length > 0 ? "warning" : "",
    "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
    "aria-invalid": error ? true : undefined,
  };
}

// A field says the first few things; the list above the form has all.
const SHOWN = 3;

export function IssueList({ id, issues }: { id: string; issues: readonly Issue[] }): ReactNode {
  const { t } = useText();
  if (issues.length === 0) return null;
  return (
    <ul id={id} className="submit-issues">
      {issues.slice(0, SHOWN).map((issue, index) => (
        <li key={`${issueKey(issue)} ${index}`} className={`submit-${issue.severity}`}>
          {issue.severity === "error" ? (
            <CloseCircleFilled aria-label={t.submit.problems.error} />
          ) : (
            <WarningFilled aria-label={t.submit.problems.warning} />
          )}
          <bdi lang={issue.foreign ? "en" : undefined}>{issue.text}</bdi>
        </li>
      ))}
    </ul>
  );
}
