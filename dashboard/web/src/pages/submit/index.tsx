// Makes a job: with a form, as YAML, from a template, or as a copy of another job.

import { Alert } from "antd";
import type { ReactNode } from "react";
import { useEffect, useMemo, useState } from "react";
import { Link, useSearchParams } from "react-router";
import type { JobRef } from "../../api/paths";
import { useHistoryDetail, useJobListNow, useManifest } from "../../api/queries";
import type { KubeObject } from "../../api/types";
import { useKeepNamespace, useNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { PageLoading } from "../../app/Shell";
import { ErrorPanel } from "../../components/ErrorPanel";
import { PageHeader } from "../../components/PageHeader";
import { useText } from "../../i18n";
import { loadEditorSoon } from "./editor/EditorPane";
import type { JsonObject } from "./manifest/path";
import { cloneText } from "./model/clone";
import { Composer } from "./page/Composer";
import type { Draft, Origin } from "./state/draft";
import { newDraft } from "./state/draft";
import { loadDraft } from "./state/draft_store";
import type { Source } from "./state/source";
import { keyOfSource, sourceOf } from "./state/source";
import { personal, templateById, TEMPLATES } from "./templates/templates";
import "./submit.css";

export default function SubmitPage(): ReactNode {
  const [search] = useSearchParams();
  const source = sourceOf(search);
  // The same page with another address is another page.
  return <Opened key={JSON.stringify(source)} source={source} />;
}

function Opened({ source }: { source: Source }): ReactNode {
  useEffect(loadEditorSoon, []);
  const key = keyOfSource(source);
  const [stored, setStored] = useState(() => loadDraft(key));
  const [turn, setTurn] = useState(0);
  const namespace = useDefaultNamespace();
  const anew = (): void => {
    setStored(undefined);
    setTurn((before) => before + 1);
  };
  const names = useJobNames();
  const compose = (start: Draft): ReactNode => (
    <Composer
      key={turn}
      start={start}
      storageKey={key}
      namespace={namespace}
      taken={names?.(namespace) ?? NO_NAMES}
      restored={stored !== undefined}
      onAnew={anew}
    />
  );
  if (stored) return compose(stored);
  if (!names) return <Reading />;
  switch (source.from) {
    case "new":
      return <New {...{ namespace, names, compose }} />;
    case "clone":
      return <Clone job={source.job} names={names} compose={compose} />;
    case "history":
      return <CloneOfHistory uid={source.uid} names={names} compose={compose} />;
    case "unknown":
      return <BadClone clone={source.clone} />;
  }
}

type Compose = (start: Draft) => ReactNode;

// The user of a service account's token.
const ACCOUNT = /^system:serviceaccount:([^:]+):/;

/** The one that the page shows, else one where jobs are seen, else that of the account. */
function useDefaultNamespace(): string {
  const { namespaces, user } = useSession();
  const [shown] = useNamespace();
  if (shown !== "") return shown;
  if (namespaces.includes("default")) return "default";
  return namespaces[0] ?? ACCOUNT.exec(user)?.[1] ?? "default";
}

/** Of a namespace; of either kind, since pods and directories are called after the job. */
type JobNames = (namespace: string) => ReadonlySet<string>;

const NO_NAMES: ReadonlySet<string> = new Set();

/** undefined: they are still being read. Where they cannot be the server says what is wrong. */
function useJobNames(): JobNames | undefined {
  const { data, isFetchedAfterMount } = useJobListNow();
  return useMemo(() => {
    if (!isFetchedAfterMount) return undefined;
    const jobs = data?.jobs ?? [];
    return (namespace) =>
      new Set(jobs.filter((job) => job.namespace === namespace).map(({ name }) => name));
  }, [data, isFetchedAfterMount]);
}

interface NewProps {
  namespace: string;
  names: JobNames;
  compose: Compose;
}

function New({ namespace, names, compose }: NewProps): ReactNode {
  const { user, kinds } = useSession();
  // Of a kind that this cluster has.
  const fitting = TEMPLATES.find(({ kind }) => kinds.includes(kind));
  const first = templateById(fitting?.id ?? "");
  const text = personal(first.text, { user, namespace, taken: names(namespace) });
  return compose(newDraft(text, { from: "template", name: first.id }));
}

interface CloneProps {
  job: JobRef;
  names: JobNames;
  compose: Compose;
}

function Clone({ job, names, compose }: CloneProps): ReactNode {
  const { data, error, refetch } = useManifest(job);
  if (data) return compose(copyOf(data, names, "clone", `${job.namespace}/${job.name}`));
  if (error) return <Failed error={error} onRetry={() => void refetch()} />;
  return <Reading />;
}

interface CloneOfHistoryProps {
  uid: string;
  names: JobNames;
  compose: Compose;
}

function CloneOfHistory({ uid, names, compose }: CloneOfHistoryProps): ReactNode {
  const { t } = useText();
  const { data, error, refetch } = useHistoryDetail(uid);
  if (data?.manifest) {
    return compose(copyOf(data.manifest, names, "history", `${data.namespace}/${data.name}`));
  }
  if (error) return <Failed error={error} onRetry={() => void refetch()} />;
  return data ? <NoSource text={t.submit.noManifest} /> : <Reading />;
}

function copyOf(
  object: KubeObject,
  names: JobNames,
  from: Origin["from"],
  name: string,
): Draft {
  const text = cloneText(object as JsonObject, names(object.metadata.namespace));
  return newDraft(text, { from, name });
}

function Reading(): ReactNode {
  const { t } = useText();
  return (
    <>
      <PageHeader title={t.submit.title} extra={t.submit.reading} />
      <PageLoading />
    </>
  );
}

function Failed({ error, onRetry }: { error: unknown; onRetry: () => void }): ReactNode {
  const { t } = useText();
  return (
    <>
      <PageHeader title={t.submit.title} />
      <ErrorPanel error={error} title={t.submit.cloneFailed} onRetry={onRetry} />
    </>
  );
}

function BadClone({ clone }: { clone: string }): ReactNode {
  const { t } = useText();
  return <NoSource text={t.submit.badClone(clone)} />;
}

function NoSource({ text }: { text: string }): ReactNode {
  const { t } = useText();
  const keep = useKeepNamespace();
  return (
    <>
      <PageHeader title={t.submit.title} />
      <Alert
        type="error"
        showIcon
        title={<bdi>{text}</bdi>}
        action={<Link to={keep("/submit")}>{t.submit.startAnew}</Link>}
      />
    </>
  );
}
