// Starts the page: finds out where it is, and gives the outer world to the app.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { newServices } from "./api/services";
import { App } from "./app/App";
import "./app/base.css";
import "./app/shell.css";
import "./components/components.css";
import { takeOneTimeCode } from "./app/one_time_code";
import { PreferencesStore } from "./app/preferences";
import { loadAllPages, routes } from "./app/routes";
import { giveStylesNonce } from "./app/style_nonce";
import { isEmbedded } from "./pages/embed/in_frame";

// Before anything else can read or send the address.
const code = takeOneTimeCode(window.location, window.history);

// "../../" was right for the address that was loaded; the router changes the address without
// loading, so the base becomes absolute once and for all.
const base = document.baseURI;
document.querySelector("base")?.setAttribute("href", base);

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
giveStylesNonce(document, nonce);

const services = newServices({
  base,
  fetch: (input, init) => window.fetch(input, init),
  random: Math.random,
  reload: () => window.location.assign(base),
  again: () => window.location.reload(),
});
const basename = new URL(base).pathname.replace(/(.)\/$/, "$1");
const router = createBrowserRouter(routes, { basename });

// The first page is there by then, and the other pages' code is in nobody's way.
const OTHER_PAGES_AFTER_MS = 3_000;
if (!isEmbedded(window.location.href, base)) setTimeout(loadAllPages, OTHER_PAGES_AFTER_MS);

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <App services={services} preferences={new PreferencesStore()} nonce={nonce} code={code}>
      <RouterProvider router={router} />
    </App>
  </StrictMode>,
);
