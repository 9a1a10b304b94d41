// Where the checkpoints of a job are, which there are, and how the model leaves the cluster.

import type { ReactNode } from "react";
import { useId } from "react";
import type { JobRef } from "../../../api/paths";
import type { JobCheckpoints } from "../../../api/types";
import { Age } from "../../../components/Age";
import { CopyButton } from "../../../components/CopyButton";
import { useText } from "../../../i18n";
import type { Texts } from "../../../i18n/en";
import "./trained.css";

interface Props {
  job: JobRef;
  checkpoints: JobCheckpoints;
  /** By the history, of a job that may be gone: no command reads it any more. */
  recorded?: boolean;
}

export function Checkpoints({ job, checkpoints, recorded = false }: Props): ReactNode {
  const { t } = useText();
  const heading = useId();
  const words = t.job.trained;
  const { folder, newest } = checkpoints;
  return (
    <section className="job-section job-checkpoints" aria-labelledby={heading}>
      <div className="job-section-head">
        <h2 id={heading}>{words.checkpoints}</h2>
      </div>
      <p>
        <bdi>{placeText(checkpoints, words)}</bdi>
      </p>
      {newest.length > 0 ? <Newest newest={newest} /> : <p>{noneText(checkpoints, words)}</p>}
      {(recorded || checkpoints.from === "history") && <p className="muted">{words.lastSeen}</p>}
      {!recorded && checkpoints.from === "status" && <p className="muted">{words.byStatus}</p>}
      {folder !== undefined && (
        <p>
          {words.onThisMachine}: <code>{folder}</code>{" "}
          <CopyButton text={folder} label={words.copyFolder} />
        </p>
      )}
      {!recorded && stays(checkpoints) && newest.length > 0 && (
        <Export job={job} dir={checkpoints.dir} />
      )}
    </section>
  );
}

function stays({ claim, hostPath }: JobCheckpoints): boolean {
  return claim !== undefined || hostPath !== undefined;
}

/** As the command line says it. */
function placeText(checkpoints: JobCheckpoints, words: Texts["job"]["trained"]): string {
  const { dir, claim, hostPath } = checkpoints;
  if (claim !== undefined) return words.onClaim(dir, claim);
  return hostPath === undefined ? words.onNoVolume(dir) : words.onPath(dir, hostPath);
}

function noneText({ from }: JobCheckpoints, words: Texts["job"]["trained"]): string {
  return from === undefined ? words.unknown : words.noneYet;
}

function Newest({ newest }: Pick<JobCheckpoints, "newest">): ReactNode {
  const { t, format } = useText();
  const words = t.job.trained;
  return (
    <table className="job-checkpoint-table">
      <caption className="muted">{words.newest(newest.length)}</caption>
      <thead>
        <tr>
          <th scope="col">{words.step}</th>
          <th scope="col">{words.size}</th>
          <th scope="col">{words.saved}</th>
        </tr>
      </thead>
      <tbody>
        {newest.map(({ step, bytes, savedAt }) => (
          <tr key={step}>
            <td className="numeric">{format.number(step)}</td>
            <td className="numeric">{bytes === undefined ? "—" : format.size(bytes)}</td>
            <td>
              <Age since={savedAt} long />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * The directory of the checkpoints is on a volume that stays, so the model may go below it. To a
 * directory, which gets the config.json without which transformers reads no GPT-2.
 */
function Export({ job, dir }: { job: JobRef; dir: string }): ReactNode {
  const { t } = useText();
  const words = t.job.trained;
  const to = `${dir.replace(/\/+$/, "")}/export`;
  const command = `taas export ${job.name} -n ${job.namespace} --format safetensors --to ${to}`;
  return (
    <p>
      {words.exportIt} <code>{command}</code>{" "}
      <CopyButton text={command} label={words.copyCommand} />
    </p>
  );
}
