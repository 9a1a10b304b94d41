// What reaches the outer world, made once in main.tsx (and by each test, with a fake fetch) and
// given to all components.

import { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { Cell } from "./cell";
import type { Fetch } from "./client";
import { ApiClient } from "./client";
import { LiveData } from "./live";
import { asApiError } from "./problem";
import { SeenJobs } from "./seen";
import { SessionHalf } from "./session_half";

export interface Services {
  api: ApiClient;
  half: SessionHalf;
  live: LiveData;
  queries: QueryClient;
  seen: SeenJobs;
  /** The server knows us no longer: the login shows above the page. */
  loginNeeded: Cell<boolean>;
  /** Opens the first page anew. */
  reload: () => void;
}

// Enough to bridge a restart of the server; more would only hide that it is down.
const READ_RETRIES = 2;
// Two components that read the same within this time share one answer.
const FRESH_MS = 5_000;

/** Whether to read again: of the server's absence, not of what it said. */
export function isPassing(failures: number, error: Error): boolean {
  const { reason } = asApiError(error);
  return failures < READ_RETRIES && (reason === "Network" || reason === "Unavailable");
}

function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // "Offline" of a browser says nothing about a cluster on this machine.
        networkMode: "always",
        staleTime: FRESH_MS,
        refetchOnWindowFocus: false,
        retry: isPassing,
      },
      mutations: { networkMode: "always", retry: false },
    },
  });
}

export interface Outer {
  base: string;
  fetch: Fetch;
  random: () => number;
  reload: () => void;
  /** The same page again, after a login or logout in another tab. */
  again: () => void;
}

export function newServices(outer: Outer): Services {
  const loginNeeded = new Cell(false);
  const onUnauthenticated = (): void => loginNeeded.set(true);
  const half = new SessionHalf(outer.base, outer.again);
  const api = new ApiClient({ base: outer.base, fetch: outer.fetch, half, onUnauthenticated });
  const live = new LiveData({
    open: (query, headers, signal) => api.open("api/stream", { query, headers, signal }),
    random: outer.random,
    onUnauthenticated,
  });
  const seen = new SeenJobs();
  const queries = newQueryClient();
  return { api, half, live, queries, seen, loginNeeded, reload: outer.reload };
}

const ServicesContext = createContext<Services | undefined>(undefined);
export const ServicesProvider = ServicesContext.Provider;

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (!services) throw new Error("useServices() outside of ServicesProvider");
  return services;
}
