// The controls of the form. Each changes one value of the manifest as it is typed; one that is
// emptied leaves the manifest.

import { AutoComplete, Input, InputNumber, Select, Switch } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import { useText } from "../../../i18n";
import type { Issue } from "../checks/issues";
import type { Op } from "../manifest/edit";
import type { Json, Path } from "../manifest/path";
import { sameValue, textOf } from "../manifest/path";
import { isNeeded, schemaAt } from "../schema/lookup";
import { useEditing } from "./editing";
import { Field } from "./Field";
import { fits } from "./fits";

export interface ScalarProps {
  path: Path;
  label: string;
  hint?: ReactNode;
  extra?: ReactNode;
  wide?: boolean;
  /** Of the path: what stays in the manifest, though it is empty. By default all around it. */
  keep?: number;
  placeholder?: string;
  /** Instead of setting the value alone. */
  ops?: (value: string) => Op[];
}

/** undefined: it is emptied. */
function useSetter(
  path: Path,
  keep: number | undefined,
  empty: Json = null,
): (value: Json | undefined) => void {
  const { kind, apply } = useEditing();
  return (value) => {
    if (value !== undefined) apply([{ set: path, value }]);
    // What is needed keeps its place, and what stands beside it, until something is typed again.
    else if (isNeeded(kind, path)) apply([{ set: path, value: empty }]);
    else apply([keep === undefined ? { remove: path } : { remove: path, keep }]);
  };
}

/** Of the schema's default, for the placeholder of a field that is empty. */
function useDefault(path: Path): string {
  const { kind } = useEditing();
  return textOf(schemaAt(kind, path)?.default);
}

export function TextField(props: ScalarProps & { parse?: (text: string) => Json }): ReactNode {
  const { path, placeholder, parse, ops, keep, ...field } = props;
  const set = useSetter(path, keep, "");
  const { apply } = useEditing();
  const fallback = useDefault(path);
  const change = (text: string): void => {
    if (ops) apply(ops(text));
    else set(text === "" ? undefined : parse ? parse(text) : text);
  };
  return (
    <Field path={path} {...field}>
      {(control, { value }) => (
        <Input
          {...control}
          value={textOf(value)}
          placeholder={placeholder ?? fallback}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  );
}

/** Whole numbers stay numbers; "5%" and "4Gi" are texts. */
export function countOrText(text: string): Json {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

export function NumberField({ path, placeholder, keep, ...field }: ScalarProps): ReactNode {
  const set = useSetter(path, keep);
  const fallback = useDefault(path);
  return (
    <Field path={path} {...field}>
      {(control, { value }) => (
        <InputNumber<number | string>
          {...control}
          className="submit-number"
          value={typeof value === "number" ? value : value === undefined ? null : textOf(value)}
          placeholder={placeholder ?? fallback}
          formatter={(shown) => String(shown ?? "")}
          onChange={(next) => set(next === null || next === "" ? undefined : Number(next))}
        />
      )}
    </Field>
  );
}

export interface ChoiceProps extends ScalarProps {
  /** By default the schema's. */
  values?: readonly string[];
  /** What a value means, where it is not what `choice` says. */
  meaning?: (value: string) => string | undefined;
  /** There is room for the value alone; its meaning stands in the list. */
  short?: boolean;
}

export function ChoiceField(props: ChoiceProps): ReactNode {
  const { path, values, meaning, short, placeholder, keep, ops, ...field } = props;
  const { t } = useText();
  const { kind, apply } = useEditing();
  const set = useSetter(path, keep);
  const schema = schemaAt(kind, path);
  const fallback = useDefault(path);
  const means = (value: string): string => meaning?.(value) ?? t.submit.choice[value] ?? "";
  const all = values ?? (schema?.enum ?? []).map(String);
  const change = (value: string | undefined): void => {
    if (value !== undefined && ops) apply(ops(value));
    else set(value);
  };
  return (
    <Field path={path} {...field}>
      {(control, { value }) => (
        <Select
          {...control}
          className="submit-choice"
          virtual={false}
          value={value === undefined || value === null ? null : textOf(value)}
          placeholder={placeholder ?? choiceText(fallback, short ? "" : means(fallback))}
          {...(short ? { labelRender: ({ value: shown }) => shown } : {})}
          allowClear={!ops && fallback !== ""}
          popupMatchSelectWidth={false}
          options={all.map((one) => ({ value: one, label: choiceText(one, means(one)) }))}
          onChange={(next: string | null | undefined) => change(next ?? undefined)}
        />
      )}
    </Field>
  );
}

function choiceText(value: string, meaning: string): string {
  if (value === "") return meaning;
  return meaning === "" ? value : `${value} – ${meaning}`;
}

export interface SuggestProps extends ScalarProps {
  options: { value: string; label?: ReactNode }[];
}

/** A text, with proposals. */
export function SuggestField(props: SuggestProps): ReactNode {
  const { path, options, placeholder, keep, ops, ...field } = props;
  const set = useSetter(path, keep, "");
  const { apply } = useEditing();
  const fallback = useDefault(path);
  const change = (text: string | undefined): void => {
    if (ops) apply(ops(text ?? ""));
    else set(text === undefined || text === "" ? undefined : text);
  };
  return (
    <Field path={path} {...field}>
      {(control, { value }) => (
        <AutoComplete
          {...control}
          className="submit-choice"
          virtual={false}
          value={textOf(value)}
          placeholder={placeholder ?? fallback}
          options={options}
          filterOption={(typed, option) => fits(typed, String(option?.value ?? ""), options)}
          popupMatchSelectWidth={false}
          onChange={(next: string | undefined) => change(next)}
        />
      )}
    </Field>
  );
}

export function SwitchField({ path, keep, ...field }: ScalarProps): ReactNode {
  const { kind } = useEditing();
  const set = useSetter(path, keep);
  const fallback = schemaAt(kind, path)?.default === true;
  return (
    <Field path={path} {...field}>
      {(control, { value }) => (
        <Switch
          id={control.id}
          disabled={control.disabled}
          aria-describedby={control["aria-describedby"]}
          checked={typeof value === "boolean" ? value : fallback}
          onChange={(next) => set(next)}
        />
      )}
    </Field>
  );
}

/** A part of the manifest that is there with all that it needs, or not at all. */
export function PartField({ path, fresh, ...field }: ScalarProps & { fresh: Json }): ReactNode {
  const { apply } = useEditing();
  return (
    <Field path={path} {...field} exact>
      {(control, { value }) => (
        <Switch
          id={control.id}
          disabled={control.disabled}
          aria-describedby={control["aria-describedby"]}
          checked={value !== undefined && value !== null}
          onChange={(on) => apply([on ? { set: path, value: fresh } : { remove: path }])}
        />
      )}
    </Field>
  );
}

interface ListProps extends ScalarProps {
  /** undefined: the text is no such list. */
  parse: (text: string) => Json[] | undefined;
  join: (values: Json[]) => string;
  change: (next: Json[]) => void;
  wrong: string;
  /** Problems that are not in the manifest. */
  more?: readonly Issue[];
  lines?: boolean;
  /** Only shown: the text cannot say what the list does. */
  fixed?: boolean;
}

// Ant Design's own measuring of a text's height writes a style that the page's policy refuses.
const LINES_MIN = 2;
const LINES_MAX = 10;

/** A list in one text. What is typed stays as it is as long as it means what the manifest says. */
export function ListField(props: ListProps): ReactNode {
  const { path, parse, join, change, wrong, lines, fixed, placeholder, ...rest } = props;
  const { more = [], ...field } = rest;
  const [typed, setTyped] = useState<string>();
  const parsed = typed === undefined ? undefined : parse(typed);
  const unread = typed !== undefined && parsed === undefined;
  const all = unread
    ? [{ severity: "error" as const, path, text: wrong, foreign: false }, ...more]
    : more;
  const onChange = (text: string): void => {
    setTyped(text);
    const next = parse(text);
    if (next) change(next);
  };
  return (
    <Field path={path} {...field} more={all}>
      {({ status, ...control }, { value }) => {
        const list = Array.isArray(value) ? value : [];
        const mine = unread || (parsed !== undefined && sameValue(parsed, list));
        const shared = {
          ...control,
          status,
          value: typed !== undefined && mine ? typed : join(list),
          placeholder: placeholder ?? "",
          readOnly: fixed === true,
          spellCheck: false,
          onBlur: () => setTyped(undefined),
        };
        return lines ? (
          <Input.TextArea
            {...shared}
            className="mono"
            rows={Math.min(Math.max(list.length + 1, LINES_MIN), LINES_MAX)}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <Input
            {...shared}
            autoComplete="off"
            onChange={(event) => onChange(event.target.value)}
          />
        );
      }}
    </Field>
  );
}
