// What the operator, the trainer and Kubernetes say, in the user's language.
//
// They say it in English, in objects that every program reads. Sentences and codes that are known
// are shown in the page's language, with their own words as the tooltip; all others stay as they
// are, as do names and what a user's program wrote.
//
//   <Said text={job.message} />
//   const { said, code } = useSaid();   said("worker-1 is starting")   code("ImagePullBackOff")

import type { ReactNode } from "react";
import { useMemo } from "react";
import { useText } from ".";
import { chineseCode, chineseOf } from "./said_zh";

export interface SaidIn {
  said: (text: string) => string;
  /** Of a reason or type: one word in CamelCase. */
  code: (code: string) => string;
}

const AS_IT_IS: SaidIn = { said: (text) => text, code: (code) => code };
const CHINESE: SaidIn = {
  said: (text) => chineseOf(text) ?? text,
  code: (code) => chineseCode(code) ?? code,
};

export function useSaid(): SaidIn {
  const { language } = useText();
  return useMemo(() => (language === "zh" ? CHINESE : AS_IT_IS), [language]);
}

interface Props {
  text: string;
  className?: string;
}

/** A sentence. */
export function Said({ text, className }: Props): ReactNode {
  const words = useSaid().said(text);
  return (
    <bdi className={className} title={words === text ? undefined : text}>
      {words}
    </bdi>
  );
}

/** A reason or type. */
export function SaidCode({ text, className }: Props): ReactNode {
  const words = useSaid().code(text);
  return (
    <bdi className={className} title={words === text ? undefined : text}>
      {words}
    </bdi>
  );
}
