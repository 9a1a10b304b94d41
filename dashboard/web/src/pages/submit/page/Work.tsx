// The form and the text of a draft beside each other, and above them what is wrong.

import { Segmented } from "antd";
import type { ReactNode, RefObject } from "react";
import { useMemo, useState } from "react";
import { useSession } from "../../../app/session";
import { useText } from "../../../i18n";
import { EditorPane } from "../editor/EditorPane";
import type { Mark, Reveal } from "../editor/YamlEditor";
import { Wrong } from "../form/advanced/AdvancedForm";
import { controlsOf, isOnForm } from "../form/advanced/on_form";
import type { Editing } from "../form/editing";
import { EditingProvider } from "../form/editing";
import { valueAt } from "../manifest/path";
import type { Manifest } from "../manifest/read";
import { OWNER } from "../model/fields";
import type { Program } from "../model/roles";
import type { Draft, DraftAction, DraftState } from "../state/draft";
import { CALM_MS, useDelayed } from "../state/use_delayed";
import { FormPane } from "./FormPane";
import { Messages } from "./Messages";
import { useFormView } from "./use_go_to";
import type { Judgement } from "./use_judgement";
import { YamlTools } from "./YamlTools";

interface Props {
  state: DraftState;
  dispatch: (action: DraftAction) => void;
  judgement: Judgement;
  list: RefObject<HTMLElement | null>;
  onSwitch: (to: Program) => void;
  restored: boolean;
  onAnew: () => void;
}

type Side = "form" | "yaml";

export function Work(props: Props): ReactNode {
  const { state, dispatch, judgement, list, onSwitch, restored, onAnew } = props;
  const { t } = useText();
  const { user } = useSession();
  const [side, setSide] = useState<Side>("form");
  const [reveal, setReveal] = useState<Reveal>();
  const view = useFormView(({ from, to }) => {
    setSide("yaml");
    setReveal({ from, to });
  });
  const { reading, good, draft } = state;
  const { issues, kind, namespace } = judgement;
  // Half a word is no YAML: that the form cannot follow is said when the typing stops.
  const unread = useDelayed(!reading.ok, CALM_MS) && !reading.ok;
  const editing = useMemo<Editing | undefined>(() => {
    if (!good || !kind) return undefined;
    const controls = controlsOf(kind, good.value, t.submit);
    return {
      isOnForm: (path) => isOnForm(controls, path),
      kind,
      manifest: good,
      disabled: unread,
      namespace,
      issues,
      apply: (ops) => dispatch({ do: "edit", ops }),
    };
  }, [good, kind, unread, namespace, issues, dispatch, t]);
  const offForm = issues.filter(
    ({ path }) => path.length > 0 && editing !== undefined && !editing.isOnForm(path),
  ).length;
  return (
    <>
      <Messages
        judgement={judgement}
        list={list}
        restored={restored}
        onAnew={onAnew}
        otherOwner={otherOwner(draft, good, user)}
        onOwn={() => dispatch({ do: "edit", ops: [{ set: OWNER, value: user }] })}
        onGo={(issue) => {
          if (!issue.span) setSide("form");
          view.goTo(issue);
        }}
      />
      <Sides side={side} wrong={offForm} onSide={setSide} />
      <div className={`submit-panes submit-show-${side}`}>
        <section className="submit-pane submit-form" aria-label={t.submit.form}>
          {editing ? (
            <EditingProvider value={editing}>
              <FormPane view={view} onSwitch={onSwitch} />
            </EditingProvider>
          ) : (
            <p className="submit-none muted">{noForm(t.submit, reading)}</p>
          )}
        </section>
        <YamlSide
          draft={draft}
          judgement={judgement}
          wrong={offForm}
          reveal={reveal}
          onType={(text) => dispatch({ do: "type", text })}
        />
      </div>
    </>
  );
}

interface SidesProps {
  side: Side;
  /** Problems that only the YAML shows. */
  wrong: number;
  onSide: (side: Side) => void;
}

/** Where there is room for one of them only. */
function Sides({ side, wrong, onSide }: SidesProps): ReactNode {
  const { t } = useText();
  const yaml = (
    <span className="submit-tab">
      {t.submit.yaml} <Wrong count={wrong} />
    </span>
  );
  return (
    <Segmented<Side>
      className="submit-sides"
      aria-label={`${t.submit.form}, ${t.submit.yaml}`}
      value={side}
      options={[
        { value: "form", label: t.submit.form },
        { value: "yaml", label: yaml },
      ]}
      onChange={onSide}
    />
  );
}

interface YamlProps {
  draft: Draft;
  judgement: Judgement;
  /** Problems that the form does not show. */
  wrong: number;
  reveal: Reveal | undefined;
  onType: (text: string) => void;
}

function YamlSide({ draft, judgement, wrong, reveal, onType }: YamlProps): ReactNode {
  const { t } = useText();
  const { issues, kind } = judgement;
  const marks = useMemo(() => issues.filter(({ line }) => line > 0).map(markOf), [issues]);
  return (
    <section className="submit-pane submit-yaml" aria-label={t.submit.yaml}>
      <YamlTools draft={draft} wrong={wrong} />
      <EditorPane
        text={draft.text}
        kind={kind ?? "TrainingJob"}
        marks={marks}
        reveal={reveal}
        describedBy="submit-yaml-keys"
        onChange={onType}
      />
    </section>
  );
}

function otherOwner({ origin }: Draft, good: Manifest | undefined, user: string) {
  if (origin.from !== "clone" && origin.from !== "history") return undefined;
  const owner = valueAt(good?.value, OWNER);
  return typeof owner === "string" && owner !== user ? owner : undefined;
}

type Words = ReturnType<typeof useText>["t"]["submit"];

function noForm(words: Words, reading: Props["state"]["reading"]): string {
  if (reading.ok) return words.otherKind;
  const tooLarge = reading.problems.some(({ code }) => code === "TooLarge");
  return tooLarge ? words.tooLargeForForm : words.status.unreadable;
}

function markOf({ from, to, severity, text }: Judgement["issues"][number]): Mark {
  return { from, to, severity, message: text };
}
