// Suspends a job; asks first where that would lose its training.

import { App } from "antd";
import { jobApi } from "../../../api/paths";
import { useServices } from "../../../api/services";
import type { JobDetail, KubeObject } from "../../../api/types";
import { useText } from "../../../i18n";
import type { Json } from "../../submit/manifest/path";
import { valueAt } from "../../submit/manifest/path";

export function useSuspend(job: JobDetail, suspend: () => void): () => Promise<void> {
  const { api } = useServices();
  const { t } = useText();
  const { modal } = App.useApp();
  return async () => {
    const manifest = await api.get<KubeObject>(`${jobApi(job)}/manifest`).catch(() => undefined);
    if (!beginsAnew(manifest)) return suspend();
    modal.confirm({
      title: t.job.suspendTitle(job.name),
      content: t.job.suspendLoses,
      okText: t.job.suspend,
      cancelText: t.common.cancel,
      onOk: suspend,
    });
  };
}

/** The bundled trainer without checkpoints. What another program keeps nobody here knows. */
function beginsAnew(manifest: KubeObject | undefined): boolean {
  const trainer = valueAt(manifest as Json | undefined, ["spec", "trainer"]) ?? undefined;
  return trainer !== undefined && (valueAt(trainer, ["checkpoint"]) ?? undefined) === undefined;
}
