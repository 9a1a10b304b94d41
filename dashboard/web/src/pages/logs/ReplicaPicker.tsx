// Whose lines show: all, all of a role, or some replicas.

import { Select } from "antd";
import type { ReactNode } from "react";
import { useMemo } from "react";
import type { JobDetail } from "../../api/types";
import { useTheme } from "../../app/theme";
import { useText, wordFor } from "../../i18n";
import { replicaName } from "../job/names";
import { colourOfReplica, compareReplicas, partsOfReplica, replicaVariables } from "./replica_look";

interface Props {
  live: JobDetail | null | undefined;
  /** Of the lines that have come. */
  seen: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

interface Choice {
  value: string;
  label: string;
  /** Of a replica that has no lines, why. */
  state?: string;
}

export function ReplicaPicker({ live, seen, chosen, onChange }: Props): ReactNode {
  const { t } = useText();
  const { dark } = useTheme();
  const count = seen.length;
  const [groups, choices] = useMemo(() => {
    const states = new Map<string, string>();
    for (const replica of live?.replicas ?? []) {
      if (replica.state === "Running") states.set(replicaName(replica), "");
      else states.set(replicaName(replica), wordFor(t.common.replicaState, replica.state));
    }
    for (const name of [...seen.slice(0, count), ...chosen]) {
      const known = states.has(name) || name === "" || !/-\d+$/.test(name);
      if (!known) states.set(name, "");
    }
    const roles = new Map<string, Choice[]>();
    for (const name of [...states.keys()].sort(compareReplicas)) {
      const [role] = partsOfReplica(name);
      const of = roles.get(role) ?? [{ value: role, label: t.logs.allOf(role) }];
      of.push({ value: name, label: name, state: states.get(name) ?? "" });
      roles.set(role, of);
    }
    const groups = [...roles].map(([role, options]) => ({
      label: wordFor(t.common.role, role),
      // One replica is all of its role.
      options: options.length === 2 ? options.slice(1) : options,
    }));
    return [groups, new Map([...roles.values()].flat().map((one) => [one.value, one]))];
  }, [live, seen, count, chosen, t]);
  return (
    <Select
      className="logs-replicas"
      mode="multiple"
      allowClear
      maxTagCount="responsive"
      aria-label={t.logs.replicas}
      placeholder={t.logs.allReplicas}
      value={[...chosen]}
      onChange={onChange}
      options={groups}
      popupMatchSelectWidth={260}
      // It hangs below the page's body, where the variables are not.
      styles={{ popup: { root: replicaVariables(dark) } }}
      optionRender={({ value }) => (
        <ReplicaChoice {...(choices.get(String(value)) ?? { value: "", label: "" })} />
      )}
      labelRender={({ value }) => <ReplicaChoice value={String(value)} label={String(value)} />}
    />
  );
}

function ReplicaChoice({ value, label, state }: Choice): ReactNode {
  const one = /-\d+$/.test(value);
  return (
    <span className="logs-choice">
      {one && <i className={`logs-swatch logs-colour-${colourOfReplica(value)}`} />}
      <bdi>{label}</bdi>
      {state !== undefined && state !== "" && <span className="muted">{state}</span>}
    </span>
  );
}
