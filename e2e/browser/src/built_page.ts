// The page as it was just built from dashboard/web, in place of the one inside of bin/taas: whoever
// changes it need not link the programs anew.
//
//   (in dashboard/web) npx vite build --outDir /tmp/page
//   (in e2e/browser)   TAAS_WEB_DIST=/tmp/page python3 -m unittest …

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { BrowserContext } from "playwright-core";

const FOLDER = process.env["TAAS_WEB_DIST"];
// What the server writes into the page: where it is, and what lets its styles be.
const WRITTEN = [/<base [^>]*>/, /<meta name="csp-nonce"[^>]*>/];

export async function serveBuiltPage(context: BrowserContext): Promise<void> {
  if (!FOLDER) return;
  await context.route(/\/assets\/[^/]+$/, async (route) => {
    const url = new URL(route.request().url());
    // From a server that is away nothing comes.
    if (!(await fetch(url, { method: "HEAD" }).catch(() => undefined))) return route.abort();
    const file = path.join(FOLDER, "assets", path.basename(url.pathname));
    return existsSync(file) ? route.fulfill({ path: file }) : route.continue();
  });
  await context.route("**", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    const text = await response.text();
    let page = readFileSync(path.join(FOLDER, "index.html"), "utf8");
    for (const part of WRITTEN) page = page.replace(part, part.exec(text)?.[0] ?? "");
    return route.fulfill({ response, body: page });
  });
}
