// Who is logged in, for everything below.

import { createContext, useContext } from "react";
import type { Session } from "../api/types";

const SessionContext = createContext<Session | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("useSession() outside of SessionGate");
  return session;
}
