// Copies a text; says so in words, for eyes and for screen readers.

import { CheckOutlined, CopyOutlined } from "@ant-design/icons";
import { Button, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useEffect, useRef, useState } from "react";
import { useText } from "../i18n";
import { useAnnounce } from "./Announcer";
import { copyText } from "./copy_text";

// Long enough to be seen.
const SHOWN_MS = 2_000;

/** label: what is copied, for the button's name ("Copy the name"). */
export function CopyButton({ text, label }: { text: string; label?: string }): ReactNode {
  const { t } = useText();
  const announce = useAnnounce();
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setCopied(true);
    announce(t.common.copied);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), SHOWN_MS);
  };
  const name = copied ? t.common.copied : (label ?? t.common.copy);
  return (
    <Tooltip title={name}>
      <Button
        type="text"
        size="small"
        aria-label={name}
        icon={copied ? <CheckOutlined /> : <CopyOutlined />}
        onClick={() => void copy()}
      />
    </Tooltip>
  );
}
