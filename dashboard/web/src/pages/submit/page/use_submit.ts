// Makes the job for good, and goes to its page.

import { App } from "antd";
import { useState } from "react";
import { useNavigate } from "react-router";
import { jobPage } from "../../../api/paths";
import { asApiError } from "../../../api/problem";
import { useServices } from "../../../api/services";
import type { Created } from "../../../api/types";
import { useKeepNamespace } from "../../../app/namespace";
import { useAnnounce } from "../../../components/Announcer";
import { useText } from "../../../i18n";
import { kindOf } from "../schema/schema";
import type { Json } from "../manifest/path";
import type { ServerCheck } from "../state/use_server_check";

interface Sent {
  text: string;
  namespace: string;
  check: ServerCheck;
  /** It exists: nothing of the draft is needed any more. */
  onDone: () => void;
}

export function useSubmit(): { sending: boolean; submit: (sent: Sent) => Promise<void> } {
  const { t } = useText();
  const { message } = App.useApp();
  const { api } = useServices();
  const navigate = useNavigate();
  const keep = useKeepNamespace();
  const announce = useAnnounce();
  const [sending, setSending] = useState(false);
  const submit = async ({ text, namespace, check, onDone }: Sent): Promise<void> => {
    setSending(true);
    try {
      const { object, warnings } = await api.postText<Created>("api/jobs", text, {
        query: { namespace },
      });
      onDone();
      const { name } = object.metadata;
      announce(t.submit.sent(name));
      void message.success(t.submit.sent(name));
      for (const warning of warnings) void message.warning(warning);
      const kind = kindOf(object as Json) ?? "TrainingJob";
      const job = { kind, namespace: object.metadata.namespace, name };
      await navigate(keep(jobPage(job)));
    } catch (error) {
      check.report(asApiError(error));
    } finally {
      setSending(false);
    }
  };
  return { sending, submit };
}
