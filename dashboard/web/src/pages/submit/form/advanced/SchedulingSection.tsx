// The queue and how pods are placed together.

import type { ReactNode } from "react";
import { useQueuesOnce } from "../../../../api/queries";
import { useText } from "../../../../i18n";
import { NAMESPACE } from "../../model/fields";
import { valueAt } from "../../manifest/path";
import { SuggestField } from "../controls";
import { useEditing } from "../editing";
import { Fields } from "../ScalarField";
import { schedulingFields } from "./sections";

export function SchedulingSection(): ReactNode {
  const { t } = useText();
  const { kind, manifest, namespace } = useEditing();
  const place = valueAt(manifest.value, NAMESPACE) ?? namespace;
  // Only proposals: a queue that the page may not see can be written all the same.
  const { data } = useQueuesOnce();
  const queues = (data?.source === "kueue" ? data.queues : []).filter(
    (queue) => queue.namespace === undefined || queue.namespace === place,
  );
  const { queue, fields } = schedulingFields(kind);
  return (
    <>
      <div className="submit-grid">
        <SuggestField
          path={queue}
          keep={1}
          label={t.submit.field.queue}
          hint={kind === "TFJob" ? t.submit.hint.queueOfTfJob : t.submit.hint.queue}
          options={queues.map(({ name }) => ({ value: name }))}
        />
      </div>
      <Fields specs={fields} />
    </>
  );
}
