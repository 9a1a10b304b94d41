// The job's object as the API server has it, read with the user's own rights.

import { DownloadOutlined, ReloadOutlined } from "@ant-design/icons";
import { Button, Checkbox, Segmented, Spin } from "antd";
import type { ReactNode } from "react";
import { useMemo, useState } from "react";
import { useManifest } from "../../../api/queries";
import type { JobDetail, KubeObject } from "../../../api/types";
import { CopyButton } from "../../../components/CopyButton";
import { ErrorPanel } from "../../../components/ErrorPanel";
import { useText } from "../../../i18n";
import { useReadAgain } from "../use_read_again";
import { CodeView } from "./CodeView";
import { download } from "./download";
import type { Part } from "./yaml_text";
import { partOf, withoutKept, yamlOf } from "./yaml_text";

interface Props {
  job: JobDetail;
  gone: boolean;
}

export function ManifestView({ job, gone }: Props): ReactNode {
  const { t, format } = useText();
  const manifest = useManifest(job, !gone);
  useReadAgain(versionOf(job), () => void (gone || manifest.refetch()));
  const object = manifest.data;
  // What was read before a later attempt failed is still worth reading.
  const refresh = (
    <>
      <span className="muted numeric">
        {t.job.manifestAsOf(format.time(manifest.dataUpdatedAt))}
      </span>
      <Button
        size="small"
        icon={<ReloadOutlined />}
        loading={manifest.isFetching}
        aria-label={t.job.refresh}
        disabled={gone}
        onClick={() => void manifest.refetch()}
      >
        {t.job.refresh}
      </Button>
    </>
  );
  return (
    <section className="job-section" aria-label={t.job.yaml}>
      {manifest.error && (
        <ErrorPanel
          error={manifest.error}
          title={t.job.manifestUnreadable}
          onRetry={() => void manifest.refetch()}
        />
      )}
      {object ? (
        <ObjectView object={object} fileName={job.name} extra={refresh} />
      ) : (
        !manifest.error && (gone ? <p className="muted">{t.job.goneTitle}</p> : <Spin />)
      )}
    </section>
  );
}

/** Of what this page can change, and of what changes with it. */
function versionOf({ suspended, state, roles }: JobDetail): string {
  return [suspended, state, ...roles.map(({ desired }) => desired)].join(" ");
}

interface ObjectProps {
  object: KubeObject;
  fileName: string;
  extra?: ReactNode;
}

/** Also of a job that is gone. */
export function ObjectView({ object, fileName, extra }: ObjectProps): ReactNode {
  const { t } = useText();
  const [part, setPart] = useState<Part>("manifest");
  const [all, setAll] = useState(false);
  const plain = useMemo(() => withoutKept(object), [object]);
  const text = useMemo(() => {
    const value = partOf(all ? object : plain, part);
    return value === undefined ? "" : yamlOf(value);
  }, [object, plain, all, part]);
  const words = { manifest: t.job.manifest, status: t.job.manifestStatus };
  const file = part === "manifest" ? `${fileName}.yaml` : `${fileName}-status.yaml`;
  const lines = text.split("\n").length - 1;
  return (
    <>
      <div className="job-code-bar">
        <Segmented<Part>
          size="small"
          aria-label={t.job.manifestPart}
          value={part}
          onChange={setPart}
          options={(["manifest", "status"] as const).map((value) => ({
            value,
            label: words[value],
          }))}
        />
        <CopyButton text={text} label={t.job.copyYaml} />
        <Button
          size="small"
          icon={<DownloadOutlined />}
          aria-label={t.common.download}
          onClick={() => download(file, text)}
        >
          {t.common.download}
        </Button>
        {part === "manifest" && plain !== object && (
          <Checkbox checked={all} onChange={(event) => setAll(event.target.checked)}>
            <span title={t.job.keptWhat}>{t.job.showKept}</span>
          </Checkbox>
        )}
        <span className="muted">{t.job.lines(lines)}</span>
        {extra}
      </div>
      {text === "" ? (
        <p className="muted">{t.job.noStatus}</p>
      ) : (
        <CodeView text={text} label={words[part]} />
      )}
    </>
  );
}
