// Makes a job: with a form, as YAML, from a template, or as a copy of another job.

import { Alert } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import type { JobRef } from "../../api/paths";
import { useHistoryDetail, useManifest } from "../../api/queries";
import type { KubeObject } from "../../api/types";
import { useKeepNamespace, useNamespace } from "../../app/namespace";
import { useSession } from "../../app/session";
import { PageLoading } from "../../app/Shell";
import { ErrorPanel } from "../../components/ErrorPanel";
import { PageHeader } from "../../components/PageHeader";
import { useText } from "../../i18n";
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
  const key = keyOfSource(source);
  const [stored, setStored] = useState(() => loadDraft(key));
  const [turn, setTurn] = useState(0);
  const namespace = useDefaultNamespace();
  const anew = (): void => {
    setStored(undefined);
    setTurn((before) => before + 1);
  };
  const compose = (start: Draft): ReactNode => (
    <Composer
      key={turn}
      start={start}
      storageKey={key}
      namespace={namespace}
      restored={stored !== undefined}
      onAnew={anew}
    />
  );
  if (stored) return compose(stored);
  switch (source.from) {
    case "new":
      return <New namespace={namespace} compose={compose} />;
    case "clone":
      return <Clone job={source.job} compose={compose} />;
    case "history":
      return <CloneOfHistory uid={source.uid} compose={compose} />;
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

function New({ namespace, compose }: { namespace: string; compose: Compose }): ReactNode {
  const { user, kinds } = useSession();
  // Of a kind that this cluster has.
  const fitting = TEMPLATES.find(({ kind }) => kinds.includes(kind));
  const first = templateById(fitting?.id ?? "");
  const text = personal(first.text, namespace, user);
  return compose(newDraft(text, { from: "template", name: first.id }));
}

function Clone({ job, compose }: { job: JobRef; compose: Compose }): ReactNode {
  const { data, error, refetch } = useManifest(job);
  if (data) return compose(copyOf(data, "clone", `${job.namespace}/${job.name}`));
  if (error) return <Failed error={error} onRetry={() => void refetch()} />;
  return <Reading />;
}

function CloneOfHistory({ uid, compose }: { uid: string; compose: Compose }): ReactNode {
  const { t } = useText();
  const { data, error, refetch } = useHistoryDetail(uid);
  if (data?.manifest) {
    return compose(copyOf(data.manifest, "history", `${data.namespace}/${data.name}`));
  }
  if (error) return <Failed error={error} onRetry={() => void refetch()} />;
  return data ? <NoSource text={t.submit.noManifest} /> : <Reading />;
}

function copyOf(object: KubeObject, from: Origin["from"], name: string): Draft {
  return newDraft(cloneText(object as JsonObject), { from, name });
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
