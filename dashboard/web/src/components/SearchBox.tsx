// A text to search for, kept elsewhere: in the address, where it goes when the typing rests. Some
// browsers allow the address to change only a hundred times in 30 s, and a request per letter would
// show the answer to "be" after that to "bert".
//
//   <SearchBox className="jobs-filter-text" label={t.jobs.search} text={text} onText={setText} />

import { SearchOutlined } from "@ant-design/icons";
import { Input } from "antd";
import type { ReactNode } from "react";
import { useEffect, useRef, useState } from "react";

export const TYPED_MS = 200;

interface Props {
  text: string;
  onText: (text: string) => void;
  label: string;
  className: string;
}

export function SearchBox({ text, onText, label, className }: Props): ReactNode {
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
      className={className}
      type="search"
      allowClear
      prefix={<SearchOutlined aria-hidden="true" />}
      placeholder={label}
      aria-label={label}
      value={typed}
      onChange={(event) => type(event.target.value)}
    />
  );
}
