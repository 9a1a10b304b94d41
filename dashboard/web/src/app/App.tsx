// All providers around the routes.

import { QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useEffect } from "react";
import { useCell } from "../api/cell";
import type { Services } from "../api/services";
import { ServicesProvider } from "../api/services";
import { Announcer } from "../components/Announcer";
import { TextProvider } from "../i18n";
import { PreferencesProvider } from "./Menus";
import type { PreferencesStore } from "./preferences";
import { SessionGate } from "./SessionGate";
import { ThemeProvider } from "./theme";

interface Props {
  services: Services;
  preferences: PreferencesStore;
  nonce: string;
  code?: string | undefined;
  children: ReactNode;
}

export function App({ services, preferences, nonce, code, children }: Props): ReactNode {
  const { language, theme } = useCell(preferences);
  useEffect(() => {
    const resume = (): void => services.live.stream.resume();
    window.addEventListener("online", resume);
    return () => window.removeEventListener("online", resume);
  }, [services]);
  return (
    <ServicesProvider value={services}>
      <QueryClientProvider client={services.queries}>
        <PreferencesProvider value={preferences}>
          <TextProvider language={language}>
            <ThemeProvider choice={theme} language={language} nonce={nonce}>
              <Announcer>
                <SessionGate code={code}>{children}</SessionGate>
              </Announcer>
            </ThemeProvider>
          </TextProvider>
        </PreferencesProvider>
      </QueryClientProvider>
    </ServicesProvider>
  );
}
