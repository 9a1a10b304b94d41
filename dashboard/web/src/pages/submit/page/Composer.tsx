// The page at work: a draft, the form and the text of it, what is wrong, and the way to submit it.

import type { ReactNode } from "react";
import { useEffect, useReducer, useRef } from "react";
import { useSession } from "../../../app/session";
import type { Program } from "../model/roles";
import type { Draft } from "../state/draft";
import { initialState, isTouched, newDraft, reduceDraft } from "../state/draft";
import { dropDraft, saveDraft } from "../state/draft_store";
import { carriedOver, FIRST_OF, personal, templateById } from "../templates/templates";
import { ComposerHeader } from "./ComposerHeader";
import { DropZone } from "./DropZone";
import { LeaveDialog } from "./LeaveDialog";
import { useJudgement } from "./use_judgement";
import { useLeaveGuard } from "./use_leave_guard";
import { useReplace } from "./use_replace";
import { useSubmit } from "./use_submit";
import { useSwitchProgram } from "./use_switch_program";
import { Work } from "./Work";

interface Props {
  start: Draft;
  /** Of the draft in the tab's storage. */
  storageKey: string;
  /** Where a job goes that names no namespace. */
  namespace: string;
  /** Names of jobs there. */
  taken: ReadonlySet<string>;
  /** The draft was found in the tab's storage. */
  restored: boolean;
  /** Throws it away and begins as without it. */
  onAnew: () => void;
}

// A pause in typing: storing takes no time that anybody sees, but not at each key.
const STORE_PAUSE_MS = 300;

interface Stored {
  storageKey: string;
  draft: Draft;
  /** It is not what the page begins with anyway. */
  worth: boolean;
  discarded: { current: boolean };
}

function useStored({ storageKey, draft, worth, discarded }: Stored): void {
  const store = (): void => {
    if (discarded.current) return;
    if (worth) saveDraft(storageKey, draft);
    else dropDraft(storageKey);
  };
  const latest = useRef(store);
  useEffect(() => {
    latest.current = store;
  });
  useEffect(() => {
    const timer = setTimeout(() => latest.current(), STORE_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [draft]);
  useEffect(() => {
    const storeNow = (): void => latest.current();
    window.addEventListener("pagehide", storeNow);
    return () => {
      window.removeEventListener("pagehide", storeNow);
      storeNow();
    };
  }, []);
}

export function Composer(props: Props): ReactNode {
  const { start, storageKey, namespace, taken, restored, onAnew } = props;
  const { user, gpuResource } = useSession();
  const [state, dispatch] = useReducer(reduceDraft, start, initialState);
  const { draft } = state;
  const discarded = useRef(false);
  const list = useRef<HTMLElement>(null);
  const worth = restored || draft.text !== start.text;
  useStored({ storageKey, draft, worth, discarded });
  const judgement = useJudgement(state, namespace);
  const guard = useLeaveGuard(isTouched(draft));
  const replace = useReplace(draft, (next) => dispatch({ do: "start", draft: next }));
  const { sending, submit } = useSubmit();
  const forget = (): void => {
    discarded.current = true;
    dropDraft(storageKey);
  };
  const send = (): void => {
    const onDone = (): void => {
      forget();
      guard.allow();
    };
    void submit({
      text: draft.text,
      namespace: judgement.namespace,
      check: judgement.check,
      onDone,
    });
  };
  const fromTemplate = (id: string): Draft => {
    const text = personal(templateById(id).text, { user, namespace, taken });
    return newDraft(text, { from: "template", name: id });
  };
  const onSwitch = useSwitchProgram(draft, (program: Program) => {
    const fresh = fromTemplate(FIRST_OF[program]);
    const old = isTouched(draft) ? (state.good?.value ?? null) : null;
    // What was carried over was written here: it is still to be asked about.
    dispatch({
      do: "start",
      draft: { ...fresh, text: carriedOver(fresh.text, old, gpuResource) },
    });
  });
  return (
    <DropZone className="submit" onFiles={replace.files}>
      <ComposerHeader
        draft={draft}
        judgement={judgement}
        sending={sending}
        onWhy={() => list.current?.focus()}
        onSubmit={send}
        onTemplate={(id) => replace.draft(fromTemplate(id))}
        onFile={replace.files}
      />
      <Work
        {...{ state, dispatch, judgement, list, onSwitch }}
        restored={restored && draft.original === start.original}
        onAnew={() => {
          forget();
          onAnew();
        }}
      />
      <LeaveDialog blocker={guard.blocker} onDiscard={forget} />
    </DropZone>
  );
}
