// The model of a job that is over, to take away, where the dashboard's server sees its volumes.

import { DownloadOutlined } from "@ant-design/icons";
import { useMutation } from "@tanstack/react-query";
import { App, Button } from "antd";
import type { ReactNode } from "react";
import { useId } from "react";
import type { JobRef } from "../../../api/paths";
import { jobApi } from "../../../api/paths";
import { ApiError, asApiError } from "../../../api/problem";
import { useServices } from "../../../api/services";
import type { ModelOffer } from "../../../api/types";
import { useText, wordFor } from "../../../i18n";
import { download } from "../manifest/download";

interface Props {
  job: JobRef;
  model: ModelOffer;
}

export function TrainedModel({ job, model }: Props): ReactNode {
  const { t, format } = useText();
  const words = t.job.trained;
  const heading = useId();
  const { api } = useServices();
  const { message } = App.useApp();
  const reading = useMutation({
    mutationFn: async () => {
      const answer = await api.open(`${jobApi(job)}/model`);
      const file = await answer.blob();
      if (file.size < model.bytes) {
        const why = words.brokeOff(format.size(file.size), format.size(model.bytes));
        throw new ApiError("Network", why);
      }
      download(model.file, file);
    },
    onError: (error) => {
      const problem = asApiError(error);
      void message.error(`${t.errors.title[problem.reason]}: ${problem.message}`);
    },
  });
  return (
    <section className="job-section" aria-labelledby={heading}>
      <div className="job-section-head">
        <h2 id={heading}>{words.model}</h2>
      </div>
      <p>{wordFor(words.modelIs, model.kind)}</p>
      <Button
        icon={<DownloadOutlined aria-hidden />}
        loading={reading.isPending}
        onClick={() => reading.mutate()}
      >
        {words.downloadModel(format.size(model.bytes))}
      </Button>
    </section>
  );
}
