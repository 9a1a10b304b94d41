// What runs: a model of the bundled trainer, or a program of the user's own.

import { Button, Segmented } from "antd";
import type { ReactNode } from "react";
import { useSession } from "../../../app/session";
import { useText } from "../../../i18n";
import type { Issue } from "../checks/issues";
import { MODEL_OWNERS, MODELS } from "../checks/trainer_findings";
import type { Json, Path } from "../manifest/path";
import { textOf, valueAt } from "../manifest/path";
import { listOps } from "../model/lists";
import { commandLine, differs, programOps, programPath } from "../model/program";
import type { Program } from "../model/roles";
import { kindOfProgram, programOf } from "../model/roles";
import { ListField, NumberField, SuggestField, TextField } from "./controls";
import { useEditing } from "./editing";
import { Group } from "./Group";
import { StepsField } from "./StepsField";

const PROGRAMS = ["bundled", "own", "tfjob"] as const;

export type SwitchProgram = (to: Program) => void;

const MODEL: Path = ["spec", "trainer", "model", "name"];
const HIDDEN: Path = ["spec", "trainer", "model", "hidden"];

export function ProgramGroup({ onSwitch }: { onSwitch: SwitchProgram }): ReactNode {
  const { t } = useText();
  const { kinds } = useSession();
  const { kind, manifest, disabled } = useEditing();
  const program = programOf(kind, manifest.value);
  const words = t.submit.program;
  const note = { bundled: words.bundledHint, own: words.ownHint, tfjob: words.tfjobHint }[program];
  return (
    <Group title={t.submit.group.program} note={note}>
      <div className="submit-field-wide">
        <Segmented<Program>
          aria-label={t.submit.group.program}
          value={program}
          disabled={disabled}
          options={PROGRAMS.filter((one) => kinds.includes(kindOfProgram(one))).map((one) => ({
            value: one,
            label: words[one],
          }))}
          onChange={onSwitch}
        />
      </div>
      {program === "bundled" ? <ModelFields /> : <ImageFields />}
    </Group>
  );
}

function ModelFields(): ReactNode {
  const { t } = useText();
  const { manifest, apply } = useEditing();
  const model = valueAt(manifest.value, MODEL);
  const hidden = valueAt(manifest.value, HIDDEN);
  return (
    <>
      <SuggestField
        path={MODEL}
        label={t.submit.field.model}
        options={MODELS.map((value) => ({ value, label: `${value} – ${t.submit.model[value]}` }))}
      />
      {(belongs(model, "hidden") || hidden !== undefined) && (
        <ListField
          path={HIDDEN}
          label={t.submit.field.hidden}
          hint={t.submit.hint.hidden}
          wrong={t.submit.hint.hiddenWrong}
          parse={readNumbers}
          join={(values) => values.map(textOf).join(", ")}
          change={(next) => apply(listOps(HIDDEN, hidden, next))}
        />
      )}
      {OF_GPT2.filter((field) => belongs(model, field)).map((field) => (
        <NumberField
          key={field}
          path={[...MODEL.slice(0, -1), field]}
          label={t.submit.field[field]}
        />
      ))}
      <StepsField />
    </>
  );
}

const OF_GPT2 = ["blocks", "heads", "width"] as const;

function belongs(model: Json | undefined, field: string): boolean {
  return typeof model === "string" && (MODEL_OWNERS[field]?.includes(model) ?? false);
}

/** "500, 100" or "500，100": also with the comma of Chinese. */
function readNumbers(text: string): Json[] | undefined {
  if (text.trim() === "") return [];
  const parts = text.split(/[,，\s]+/).filter((part) => part !== "");
  return parts.every((part) => /^\d{1,9}$/.test(part)) ? parts.map(Number) : undefined;
}

function ImageFields(): ReactNode {
  const { t } = useText();
  const { kind, manifest, apply } = useEditing();
  const { local } = useSession();
  const path = programPath(kind, manifest.value, "image");
  if (!path) return null;
  const { hint } = t.submit;
  const notes = [
    ...(differs(kind, manifest.value, "image") ? [hint.differs] : []),
    ...(local ? [hint.localImage] : []),
  ];
  return (
    <>
      <TextField
        path={path}
        label={t.submit.field.image}
        wide
        {...(notes.length > 0 ? { hint: notes.join(" ") } : {})}
        ops={(text) => programOps(kind, manifest, "image", text)}
      />
      <PartsField field="command" hint={hint.command} onChange={apply} />
      <PartsField field="args" hint={hint.args} onChange={apply} />
    </>
  );
}

// A script, since that is what one does not guess: a part on each line is no command line.
const EXAMPLE = { command: "sh\n-c", args: "cd /code && python train.py --steps=1000" };

interface PartsProps {
  field: "command" | "args";
  hint: string;
  onChange: (ops: ReturnType<typeof programOps>) => void;
}

function PartsField({ field, hint, onChange }: PartsProps): ReactNode {
  const { t } = useText();
  const { kind, manifest, disabled } = useEditing();
  const path = programPath(kind, manifest.value, field);
  if (!path) return null;
  const value = valueAt(manifest.value, path);
  const list = Array.isArray(value) ? value.map(textOf) : [];
  const said = field === "command" ? commandLine(list) : null;
  const parts = said?.parts;
  const several = Array.isArray(value) && value.some((part) => textOf(part).includes("\n"));
  return (
    <ListField
      path={path}
      label={t.submit.field[field]}
      more={said ? [spaceIssue(path, t.submit.program.oneName(said.line))] : []}
      extra={
        parts && (
          <Button
            type="link"
            size="small"
            disabled={disabled}
            onClick={() => onChange(programOps(kind, manifest, field, parts))}
          >
            {t.submit.program.split}
          </Button>
        )
      }
      placeholder={t.submit.hint.example(EXAMPLE[field])}
      hint={several ? t.submit.hint.argsInYaml : hint}
      wrong={t.submit.hint.argsInYaml}
      lines
      wide
      fixed={several}
      parse={readLines}
      join={(values) => values.map(textOf).join("\n")}
      change={(next) => onChange(programOps(kind, manifest, field, next.map(textOf)))}
    />
  );
}

/** A program may be called like that: a warning. */
function spaceIssue(path: Path, text: string): Issue {
  return { severity: "warning", path, text, foreign: false };
}

/** The line that is just being begun is no part yet. */
function readLines(text: string): Json[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}
