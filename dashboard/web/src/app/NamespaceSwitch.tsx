// Chooses the namespace that all pages show.

import { Select } from "antd";
import type { ReactNode } from "react";
import { useMemo } from "react";
import { useText } from "../i18n";
import { useNamespace, useNamespaces } from "./namespace";

export function NamespaceSwitch(): ReactNode {
  const { t } = useText();
  const [namespace, setNamespace] = useNamespace();
  const known = useNamespaces();
  const options = useMemo(() => {
    // One that only the URL knows shows as well.
    const all = namespace === "" || known.includes(namespace) ? known : [...known, namespace];
    return [
      { value: "", label: t.shell.allNamespaces },
      ...all.map((name) => ({ value: name, label: name })),
    ];
  }, [known, namespace, t]);
  return (
    <Select
      className="namespace-switch"
      aria-label={t.shell.namespace}
      title={t.shell.namespace}
      value={namespace}
      onChange={setNamespace}
      options={options}
      showSearch
      popupMatchSelectWidth={false}
    />
  );
}
