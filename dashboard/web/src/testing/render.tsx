// Renders the app, or one page of it, as in the browser: all providers, a router in memory, a fake
// server.
//
//   const { user } = await renderAt("/jobs?ns=ml", { server });
//   await user.click(screen.getByRole("button", { name: "…" }));

import type { RenderResult } from "@testing-library/react";
import { render } from "@testing-library/react";
import type { UserEvent } from "@testing-library/user-event";
import userEvent from "@testing-library/user-event";
import type { RouteObject } from "react-router";
import { createMemoryRouter, RouterProvider } from "react-router";
import type { Services } from "../api/services";
import { newServices } from "../api/services";
import { App } from "../app/App";
import { PreferencesStore } from "../app/preferences";
import { routes as allRoutes } from "../app/routes";
import type { Language } from "../i18n/language";
import { BASE, FakeServer } from "./fake_server";

interface Options {
  server?: FakeServer;
  language?: Language;
  code?: string;
  /** Instead of the app's own. */
  routes?: RouteObject[];
}

export interface Rendered extends RenderResult {
  user: UserEvent;
  server: FakeServer;
  services: Services;
  router: ReturnType<typeof createMemoryRouter>;
  preferences: PreferencesStore;
  reloads: () => number;
  /** Times that the same page was loaded again. */
  agains: () => number;
}

export function renderAt(path: string, options: Options = {}): Rendered {
  const { server = new FakeServer(), language = "en", code, routes = allRoutes } = options;
  const user = userEvent.setup();
  let reloads = 0;
  let agains = 0;
  const services = newServices({
    base: BASE,
    fetch: server.fetch,
    random: () => 0,
    reload: () => (reloads += 1),
    again: () => (agains += 1),
  });
  // Tests that want a refusal do not want to wait for it.
  services.queries.setDefaultOptions({ queries: { retry: false, networkMode: "always" } });
  const preferences = new PreferencesStore();
  preferences.setLanguage(language);
  const router = createMemoryRouter(routes, { initialEntries: [path] });
  const result = render(
    <App services={services} preferences={preferences} nonce="" code={code}>
      <RouterProvider router={router} />
    </App>,
  );
  const counts = { reloads: () => reloads, agains: () => agains };
  return { ...result, user, server, services, router, preferences, ...counts };
}
