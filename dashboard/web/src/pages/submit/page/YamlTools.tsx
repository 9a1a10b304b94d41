// Above the text: copying it, and saving it as a file.

import { DownloadOutlined } from "@ant-design/icons";
import { Button, Tooltip } from "antd";
import type { ReactNode } from "react";
import { CopyButton } from "../../../components/CopyButton";
import { useText } from "../../../i18n";
import { Wrong } from "../form/advanced/AdvancedForm";
import type { Draft } from "../state/draft";

interface Props {
  draft: Draft;
  /** Problems that show here and not on the form. */
  wrong: number;
}

export function YamlTools({ draft, wrong }: Props): ReactNode {
  const { t } = useText();
  return (
    <div className="submit-tools">
      <h2>{t.submit.yaml}</h2>
      <Wrong count={wrong} />
      <span id="submit-yaml-keys" className="submit-hint submit-keys">
        {t.submit.yamlKeys}
      </span>
      <CopyButton text={draft.text} label={t.submit.copyYaml} />
      <Tooltip title={t.submit.downloadName}>
        <Button
          type="text"
          size="small"
          aria-label={t.submit.downloadName}
          icon={<DownloadOutlined />}
          onClick={() => download(draft)}
        />
      </Tooltip>
    </div>
  );
}

function download({ text }: Draft): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "job.yaml";
  link.click();
  URL.revokeObjectURL(url);
}
