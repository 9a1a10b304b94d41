// The roles, one card each: how many, with what, and how they are restarted.

import { App, Switch } from "antd";
import type { ReactNode } from "react";
import { useGpusOnce } from "../../../../api/queries";
import type { JobKind } from "../../../../api/types";
import { useSession } from "../../../../app/session";
import { RoleBadge } from "../../../../components/Tags";
import { useText } from "../../../../i18n";
import { issuesWithin } from "../../checks/issues";
import type { Op } from "../../manifest/edit";
import type { Json, JsonObject, Path } from "../../manifest/path";
import { isWithin, valueAt } from "../../manifest/path";
import type { RolePlace } from "../../model/roles";
import {
  containerPath,
  gpusPath,
  leadingRole,
  programOf,
  replicasOf,
  rolesOf,
} from "../../model/roles";
import { countOrText, NumberField, SuggestField, TextField } from "../controls";
import { idOf, useEditing } from "../editing";
import { IssueList } from "../Field";
import type { FieldSpec } from "../ScalarField";
import { ScalarField } from "../ScalarField";
import { EnvRows } from "./EnvRows";

export function RolesSection(): ReactNode {
  const { kind, manifest } = useEditing();
  return (
    <div className="submit-cards">
      {rolesOf(kind, manifest.value).map((place) => (
        <RoleCard key={place.path.join(".")} place={place} />
      ))}
    </div>
  );
}

function RoleCard({ place }: { place: RolePlace }): ReactNode {
  const { t } = useText();
  const { kind, issues } = useEditing();
  const { gpuResource } = useSession();
  const fields = fieldPaths(kind, place, gpuResource);
  // What is wrong with the role, and with no field that is shown.
  const rest = issuesWithin(issues, place.path).filter(
    ({ path }) => !fields.some((field) => isWithin(path, field)),
  );
  return (
    <section className="submit-card" aria-label={t.common.role[place.role]}>
      <div className="submit-card-head">
        <RoleBadge role={place.role} />
        <RoleSwitch place={place} />
      </div>
      <p className="submit-hint" id={`${idOf(place.path)}-hint`}>
        {place.value ? t.submit.roleHint[place.role] : t.submit.roles.absent}
      </p>
      <IssueList id={`${idOf(place.path)}-issues`} issues={rest} />
      {place.value && <RoleFields place={place} />}
    </section>
  );
}

function fieldPaths(kind: JobKind, place: RolePlace, gpuResource: string): Path[] {
  const around = resourcesPath(kind, place);
  return [
    [...place.path, "replicas"],
    [...place.path, "restartPolicy"],
    [...place.path, "gpuType"],
    [...place.path, "elastic"],
    gpusPath(kind, place, gpuResource),
    [...around, "requests"],
    [...around, "limits"],
    envPath(kind, place),
  ];
}

function resourcesPath(kind: JobKind, place: RolePlace): Path {
  const around = kind === "TFJob" ? containerPath(kind, place) : place.path;
  return [...around, "resources"];
}

function envPath(kind: JobKind, place: RolePlace): Path {
  return [...(kind === "TFJob" ? containerPath(kind, place) : place.path), "env"];
}

function RoleSwitch({ place }: { place: RolePlace }): ReactNode {
  const { t } = useText();
  const { modal } = App.useApp();
  const { kind, manifest, disabled, apply } = useEditing();
  const role = t.common.role[place.role];
  const change = (on: boolean): void => {
    if (on) apply([{ set: place.path, value: freshRole(kind, manifest.value, place) }]);
    else if (Object.keys(place.value ?? {}).every((key) => key === "replicas")) drop();
    else {
      modal.confirm({
        title: t.submit.roles.dropTitle(role),
        content: t.submit.roles.dropText,
        okText: t.submit.roles.drop,
        cancelText: t.common.cancel,
        okButtonProps: { danger: true },
        onOk: drop,
      });
    }
  };
  const drop = (): void => apply([{ remove: place.path } satisfies Op]);
  return (
    <Switch
      id={idOf(place.path)}
      size="small"
      aria-label={t.submit.roles.use(role)}
      aria-describedby={`${idOf(place.path)}-hint ${idOf(place.path)}-issues`}
      checked={place.value !== undefined}
      disabled={disabled}
      onChange={change}
    />
  );
}

/** One that brings its own image runs what the leading role does. */
function freshRole(
  kind: JobKind,
  value: Parameters<typeof rolesOf>[1],
  place: RolePlace,
): JsonObject {
  if (programOf(kind, value) === "bundled") return { replicas: 1 };
  const leader = leadingRole(kind, value);
  const template =
    leader && leader.path.join() !== place.path.join() ? leader.value?.template : null;
  return { replicas: 1, ...(template ? { template } : {}) };
}

function RoleFields({ place }: { place: RolePlace }): ReactNode {
  const { t } = useText();
  const { kind, manifest } = useEditing();
  const { gpuResource } = useSession();
  const { field } = t.submit;
  const resources = resourcesPath(kind, place);
  const keep = resources.length - 1;
  return (
    <div className="submit-grid submit-grid-small">
      <ScalarField path={[...place.path, "replicas"]} label="replicas" />
      <NumberField
        path={gpusPath(kind, place, gpuResource)}
        label={field.gpus}
        placeholder="0"
        keep={kind === "TFJob" ? keep : place.path.length}
      />
      {kind === "TrainingJob" && <GpuTypeField path={[...place.path, "gpuType"]} />}
      <ScalarField path={[...place.path, "restartPolicy"]} label="restartPolicy" short />
      {elasticFields(manifest.value, place).map((spec) => (
        <ScalarField key={spec.label} {...spec} />
      ))}
      {(["requests", "limits"] as const).map((sort) =>
        (["cpu", "memory"] as const).map((resource) => (
          <TextField
            key={`${sort} ${resource}`}
            path={[...resources, sort, resource]}
            keep={keep}
            label={labelOf(field, sort, resource)}
            placeholder={t.common.none}
            parse={countOrText}
          />
        )),
      )}
      <EnvRows path={envPath(kind, place)} />
    </div>
  );
}

/** Of workers that may come and go: with all-reduce, and where it stands anyway. */
function elasticFields(value: Json, place: RolePlace): FieldSpec[] {
  if (place.role !== "worker") return [];
  const path = [...place.path, "elastic"];
  const present = valueAt(value, path) !== undefined;
  const ring = valueAt(value, ["spec", "trainer", "strategy", "type"]) === "AllReduce";
  if (!present && !ring) return [];
  const bounds: FieldSpec[] = [
    { path: [...path, "minReplicas"], label: "minReplicas", keep: path.length },
    { path: [...path, "maxReplicas"], label: "maxReplicas", keep: path.length },
  ];
  const fresh = { minReplicas: 1, maxReplicas: Math.max(1, replicasOf(place)) };
  return [{ path, label: "elastic", hint: "elastic", fresh }, ...(present ? bounds : [])];
}

/** Of the products that the cluster's nodes have, as far as this user sees them. */
function GpuTypeField({ path }: { path: Path }): ReactNode {
  const { t } = useText();
  const { data } = useGpusOnce();
  const products = (data?.nodes ?? []).filter(({ simulated }) => !simulated);
  const names = [...new Set(products.map(({ product }) => product))].filter((name) => name !== "");
  return (
    <SuggestField
      path={path}
      label={t.submit.field.gpuType}
      placeholder={t.submit.hint.gpuType}
      options={names.map((value) => ({ value }))}
    />
  );
}

function labelOf(
  field: ReturnType<typeof useText>["t"]["submit"]["field"],
  sort: "requests" | "limits",
  resource: "cpu" | "memory",
): string {
  if (resource === "cpu") return sort === "requests" ? field.cpuRequest : field.cpuLimit;
  return sort === "requests" ? field.memoryRequest : field.memoryLimit;
}
