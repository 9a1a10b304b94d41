// The containers of a pod: images, how they run and last ended, what they ask for.

import type { ReactNode } from "react";
import type { JobKind } from "../../../api/types";
import { CopyButton } from "../../../components/CopyButton";
import { useText } from "../../../i18n";
import { Said, SaidCode } from "../../../i18n/said";
import { saidWords } from "../said";
import { ExitWords } from "./ExitWords";
import type { Container, Run } from "./pod_object";

interface Props {
  kind: JobKind;
  containers: readonly Container[];
  /** Of these, the one whose end is the replica's. */
  program: Container | undefined;
}

export function ContainerList({ kind, containers, program }: Props): ReactNode {
  return containers.map((container) => (
    <ContainerView
      key={`${String(container.init)} ${container.name}`}
      kind={kind}
      container={container}
      program={container === program}
    />
  ));
}

interface ViewProps {
  kind: JobKind;
  container: Container;
  program: boolean;
}

function ContainerView({ kind, container, program }: ViewProps): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  const { name, image, imageId, init, now, last } = container;
  return (
    <section className="job-container">
      <h3>
        <bdi>{init ? words.initContainer(name) : words.container(name)}</bdi>
      </h3>
      <dl className="job-container-facts">
        <dt>{words.image}</dt>
        <dd>
          <span className="job-copied">
            <bdi className="mono">{image}</bdi>
            <CopyButton text={image} label={words.copyImage} />
          </span>
          {imageId !== undefined && <bdi className="mono muted job-image-id">{imageId}</bdi>}
        </dd>
        {now && (
          <>
            <dt>{words.now}</dt>
            <dd>
              <RunView run={now} kind={kind} program={program} />
            </dd>
          </>
        )}
        {last && (
          <>
            <dt>{words.last}</dt>
            <dd>
              <RunView run={last} kind={kind} program={program} />
            </dd>
          </>
        )}
      </dl>
      <Resources container={container} />
    </section>
  );
}

function RunView(props: { run: Run; kind: JobKind; program: boolean }): ReactNode {
  const { run, kind, program } = props;
  const { t, format } = useText();
  const words = t.job.pod;
  const ended = run.state === "terminated";
  const said = ended && run.message !== undefined ? saidWords(run.message, t) : run.message;
  const { startedAt, finishedAt } = run;
  return (
    <>
      {run.state === "terminated" && run.exitCode !== undefined ? (
        <ExitWords code={run.exitCode} reason={run.reason} kind={kind} program={program} />
      ) : (
        <>
          {words.run[run.state]}
          {run.reason !== undefined && (
            <>
              {": "}
              <SaidCode text={run.reason} />
            </>
          )}
        </>
      )}
      {startedAt !== undefined && (
        <div className="muted numeric">
          {finishedAt === undefined
            ? words.since(format.dateTime(startedAt))
            : words.from(format.dateTime(startedAt), format.dateTime(finishedAt))}
        </div>
      )}
      {said !== undefined && (
        <div>
          {run.state === "terminated" && <span className="muted">{words.lastWords} </span>}
          <Said className="job-said" text={said} />
        </div>
      )}
    </>
  );
}

function Resources({ container }: { container: Container }): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  const requests = new Map(container.requests);
  const limits = new Map(container.limits);
  const names = [...new Set([...requests.keys(), ...limits.keys()])];
  if (names.length === 0) return <p className="muted">{words.noResources}</p>;
  return (
    <table className="job-small-table">
      <caption className="visually-hidden">{words.resources}</caption>
      <thead>
        <tr>
          <th scope="col">{words.resource}</th>
          <th scope="col">{words.request}</th>
          <th scope="col">{words.limit}</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td className="numeric">
              <bdi>{requests.get(name) ?? "—"}</bdi>
            </td>
            <td className="numeric">
              <bdi>{limits.get(name) ?? "—"}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
