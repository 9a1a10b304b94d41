// The environment that a container's program gets, without what is secret: a value that comes from
// elsewhere shows as the place it comes from, one whose name sounds like a secret only when asked.

import { EyeInvisibleOutlined, EyeOutlined } from "@ant-design/icons";
import { Button, Input } from "antd";
import type { ReactNode } from "react";
import { useState } from "react";
import { useText } from "../../../i18n";
import type { Texts } from "../../../i18n/en";
import type { Container, EnvEntry, EnvFrom, EnvSource } from "./pod_object";
import { looksSecret } from "./pod_object";

export function EnvTable({ containers }: { containers: readonly Container[] }): ReactNode {
  const { t } = useText();
  const [search, setSearch] = useState("");
  return (
    <>
      <Input
        type="search"
        allowClear
        size="small"
        className="job-env-search"
        aria-label={t.job.pod.envSearch}
        placeholder={t.job.pod.envSearch}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {containers.map((container) => (
        <ContainerEnv
          key={`${String(container.init)} ${container.name}`}
          container={container}
          search={search.trim().toLowerCase()}
        />
      ))}
    </>
  );
}

function ContainerEnv(props: { container: Container; search: string }): ReactNode {
  const { container, search } = props;
  const { t } = useText();
  const words = t.job.pod;
  const { env, envFrom, name, init } = container;
  // Not by a hidden value: one could guess it letter by letter on a screen that others see.
  const shown = env.filter(
    (entry) =>
      entry.name.toLowerCase().includes(search) ||
      (!looksSecret(entry.name) && (entry.value ?? "").toLowerCase().includes(search)),
  );
  return (
    <section className="job-container">
      <h3>
        <bdi>{init ? words.initContainer(name) : words.container(name)}</bdi>
      </h3>
      {env.length + envFrom.length === 0 && <p className="muted">{words.envEmpty}</p>}
      {envFrom.map((from) => (
        <p key={`${from.kind} ${from.name} ${from.prefix}`}>
          <bdi>{allOf(from, t)}</bdi>
        </p>
      ))}
      {env.length > 0 && shown.length === 0 && <p className="muted">{words.envNoMatch}</p>}
      {shown.length > 0 && (
        <table className="job-small-table job-env">
          <thead>
            <tr>
              <th scope="col">{words.envName}</th>
              <th scope="col">{words.envValue}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((entry, place) => (
              <tr key={`${entry.name} ${place}`}>
                <th scope="row" className="mono">
                  <bdi>{entry.name}</bdi>
                </th>
                <td>
                  <Value entry={entry} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Value({ entry }: { entry: EnvEntry }): ReactNode {
  const { t } = useText();
  const words = t.job.pod;
  const [open, setOpen] = useState(false);
  if (entry.from) {
    return (
      <span className="muted">
        <bdi>{sourceText(entry.from, t)}</bdi>
      </span>
    );
  }
  const secret = looksSecret(entry.name) && entry.value !== "";
  const value = <Written name={entry.name} text={entry.value ?? ""} />;
  if (!secret) return value;
  return (
    <>
      {open ? value : <span className="muted">{words.hidden}</span>}
      <Button
        type="text"
        size="small"
        icon={open ? <EyeInvisibleOutlined /> : <EyeOutlined />}
        aria-label={open ? words.hide(entry.name) : words.show(entry.name)}
        onClick={() => setOpen(!open)}
      />
    </>
  );
}

// What may be higher than job-env-value on a phone, where a line takes some 25 letters.
const LONG = 80;

function Written({ name, text }: { name: string; text: string }): ReactNode {
  const shown = <bdi className="mono job-env-value">{text}</bdi>;
  if (text.length < LONG && !text.includes("\n")) return shown;
  return (
    // Scrolls by the keyboard, too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="mono job-env-value" role="region" aria-label={name} tabIndex={0}>
      <bdi>{text}</bdi>
    </div>
  );
}

function sourceText(from: EnvSource, t: Texts): string {
  const words = t.job.pod;
  switch (from.kind) {
    case "secret":
      return words.fromSecret(from.name, from.key ?? "");
    case "configMap":
      return words.fromConfigMap(from.name, from.key ?? "");
    case "field":
      return words.fromField(from.name);
    case "resource":
      return words.fromResource(from.name);
    case "other":
      return words.fromOther(from.name);
  }
}

function allOf({ kind, name, prefix }: EnvFrom, t: Texts): string {
  const words = t.job.pod;
  const all = kind === "secret" ? words.allOfSecret(name) : words.allOfConfigMap(name);
  return prefix === "" ? all : `${all}, ${words.prefixed(prefix)}`;
}
