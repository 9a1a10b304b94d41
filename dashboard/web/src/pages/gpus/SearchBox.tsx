// The text of the filter. It is typed faster than some browsers allow the address to change, so it
// goes there when the typing rests.

import { SearchOutlined } from "@ant-design/icons";
import { Input } from "antd";
import type { ReactNode } from "react";
import { useEffect, useRef, useState } from "react";
import { useText } from "../../i18n";

const TYPED_MS = 200;

interface Props {
  text: string;
  onText: (text: string) => void;
}

export function SearchBox({ text, onText }: Props): ReactNode {
  const { t } = useText();
  const [typed, setTyped] = useState(text);
  // What we have put into the address, which may be on its way there.
  const sent = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (text === sent.current) return;
    // Somebody else has changed it: the filter was cleared, or the browser went back.
    clearTimeout(timer.current);
    sent.current = text;
    setTyped(text);
  }, [text]);
  const type = (next: string): void => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = next;
      onText(next);
    }, TYPED_MS);
  };
  return (
    <Input
      className="gpus-search"
      type="search"
      allowClear
      prefix={<SearchOutlined aria-hidden="true" />}
      placeholder={t.gpus.search}
      aria-label={t.gpus.search}
      value={typed}
      onChange={(event) => type(event.target.value)}
    />
  );
}
