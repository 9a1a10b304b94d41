// How many workers, and GPUs for each of them.

import { InputNumber, Switch } from "antd";
import type { ReactNode } from "react";
import { useGpusOnce } from "../../../api/queries";
import { useSession } from "../../../app/session";
import { useText } from "../../../i18n";
import type { Issue } from "../checks/issues";
import type { Json, Path } from "../manifest/path";
import { valueAt } from "../manifest/path";
import type { RolePlace } from "../model/roles";
import { gpusOf, gpusPath, leadingRole, presentRoles, programOf, replicasOf } from "../model/roles";
import { roleOf } from "../model/roles";
import { NumberField } from "./controls";
import { useEditing } from "./editing";
import { Field, IssueList } from "./Field";
import { Group } from "./Group";

export function ScaleGroups(): ReactNode {
  const { t } = useText();
  const { kind, manifest } = useEditing();
  const { value } = manifest;
  const worker = roleOf(kind, value, "worker");
  const leader = leadingRole(kind, value);
  if (!worker) return null;
  const strategy = valueAt(value, ["spec", "trainer", "strategy", "type"]);
  const single = strategy === "Local" || strategy === "Towers";
  const own = programOf(kind, value) !== "bundled";
  const { oneProcess, workersHint, workersOwnHint } = t.submit.scale;
  const hint = single ? oneProcess(strategy) : own ? workersOwnHint : workersHint;
  return (
    <>
      <Group title={t.submit.group.workers}>
        <NumberField
          path={[...worker.path, "replicas"]}
          label={t.submit.scale.workers}
          hint={hint}
          placeholder={String(replicasOf(worker))}
        />
      </Group>
      <Group title={t.submit.group.gpus}>
        <GpuFields place={leader ?? worker} />
        <Total />
      </Group>
    </>
  );
}

function GpuFields({ place }: { place: RolePlace }): ReactNode {
  const { t } = useText();
  const { gpuResource } = useSession();
  const { kind, manifest, apply, disabled } = useEditing();
  const { value } = manifest;
  const path = gpusPath(kind, place, gpuResource);
  const gpus = gpusOf(kind, value, place, gpuResource);
  // What a TFJob's container has around the number goes with it; a role of a TrainingJob stays.
  const keep = kind === "TFJob" ? path.length - 3 : path.length - 1;
  const set = (next: number): void =>
    apply(
      next > 0 ? [{ set: path, value: gpuValue(value, path, next) }] : [{ remove: path, keep }],
    );
  const tooMany = useTooMany(path, gpus);
  const chief = presentRoles(kind, value).find(({ role }) => role === "chief");
  const chiefToo =
    chief !== undefined &&
    programOf(kind, value) === "bundled" &&
    gpus > 0 &&
    gpusOf(kind, value, chief, gpuResource) === 0;
  return (
    <>
      <div className="submit-field">
        <div className="submit-label">
          <label htmlFor="submit-gpus">{t.submit.scale.gpus}</label>
        </div>
        <Switch
          id="submit-gpus"
          checked={gpus > 0}
          disabled={disabled}
          onChange={(on) => set(on ? 1 : 0)}
        />
      </div>
      <Field
        path={path}
        label={t.submit.scale.perWorker}
        hint={chiefToo ? t.submit.scale.chiefHint : t.submit.scale.gpusHint(gpuResource)}
        more={tooMany}
      >
        {(control) => (
          <InputNumber<number>
            {...control}
            className="submit-number"
            disabled={control.disabled || gpus === 0}
            min={1}
            precision={0}
            value={gpus === 0 ? null : gpus}
            onChange={(next) => next !== null && set(next)}
          />
        )}
      </Field>
    </>
  );
}

/** GPUs of each node; undefined: unknown, or this user may not see the nodes. */
function useNodeSizes(enabled: boolean): number[] | undefined {
  const { data } = useGpusOnce(enabled);
  if (!enabled || !data?.nodesVisible) return undefined;
  return data.nodes.map(({ allocatable, capacity }) => allocatable ?? capacity ?? 0);
}

/** More of them than any node has that this user sees; a larger one may still come. */
function useTooMany(path: Path, gpus: number): Issue[] {
  const { t } = useText();
  const sizes = useNodeSizes(gpus > 0);
  if (!sizes) return [];
  const largest = Math.max(0, ...sizes);
  if (gpus <= largest) return [];
  const { noGpus, tooMany } = t.submit.scale;
  const text = largest === 0 ? noGpus : tooMany(largest);
  return [{ severity: "warning", path, text, foreign: false }];
}

/** A quantity that stands there as a text stays one. */
function gpuValue(value: Json, path: readonly (string | number)[], next: number): Json {
  return typeof valueAt(value, path) === "string" ? String(next) : next;
}

function Total(): ReactNode {
  const { t } = useText();
  const { gpuResource } = useSession();
  const { kind, manifest } = useEditing();
  const { value } = manifest;
  let pods = 0;
  let gpus = 0;
  const parts: string[] = [];
  for (const place of presentRoles(kind, value)) {
    const replicas = replicasOf(place);
    if (replicas <= 0) continue;
    pods += replicas;
    gpus += replicas * gpusOf(kind, value, place, gpuResource);
    parts.push(`${t.common.role[place.role]} ${replicas}`);
  }
  const tooMany = useTooManyInAll(gpus);
  return (
    <div className="submit-total submit-field-wide">
      <p>
        <span>{parts.join(" + ")}</span> = <strong>{t.submit.scale.total(pods, gpus)}</strong>
      </p>
      <IssueList id="submit-total-issues" issues={tooMany} />
    </div>
  );
}

/** That no node has any is said with the number for each worker. */
function useTooManyInAll(gpus: number): Issue[] {
  const { t } = useText();
  const all = useNodeSizes(gpus > 0)?.reduce((sum, size) => sum + size, 0) ?? 0;
  if (all === 0 || gpus <= all) return [];
  const text = t.submit.scale.tooManyInAll(all, gpus);
  return [{ severity: "warning", path: [], text, foreign: false }];
}
