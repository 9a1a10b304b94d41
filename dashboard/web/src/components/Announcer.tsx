// Says changes to screen readers, politely: one live region for the whole page.

import type { ReactNode } from "react";
import { createContext, useCallback, useContext, useState } from "react";

const AnnounceContext = createContext<(text: string) => void>(() => undefined);

export function useAnnounce(): (text: string) => void {
  return useContext(AnnounceContext);
}

export function Announcer({ children }: { children: ReactNode }): ReactNode {
  const [said, setSaid] = useState({ text: "", turn: 0 });
  const announce = useCallback((text: string) => {
    setSaid((before) => ({ text, turn: before.turn + 1 }));
  }, []);
  // The same text twice is only spoken again when the region's content differs.
  const again = said.turn % 2 === 0 ? "" : " ";
  return (
    <AnnounceContext value={announce}>
      {children}
      <div className="visually-hidden" role="status" aria-live="polite">
        {said.text}
        {again}
      </div>
    </AnnounceContext>
  );
}
