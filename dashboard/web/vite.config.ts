// Builds the page into dist/ and serves it during development.
//
// base "./" makes every URL of an asset relative, so that one build works under any sub-path.

import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// In the product the server writes the <base> by the depth of the path; here all is at the root.
const developmentBase: Plugin = {
  name: "taas-development-base",
  apply: "serve",
  transformIndexHtml: (html) => html.replace('<base href="./" />', '<base href="/" />'),
};

// What replaces a module cannot share it.
const MOCKED = ["training_page", "histograms", "embed"].map((name) => `src/**/${name}.test.tsx`);

const withDocument = {
  environment: "jsdom",
  environmentOptions: { jsdom: { url: "http://taas.test/" } },
  setupFiles: ["src/testing/setup.ts"],
  // See src/testing/setup.ts: several waits of a test may be long on a busy machine.
  testTimeout: 60_000,
};

export default defineConfig({
  base: "./",
  plugins: [react(), developmentBase],
  server: {
    proxy: {
      "/api": {
        target: process.env.TAAS_DASHBOARD_URL ?? "http://127.0.0.1:8080",
        // The server compares Origin and Host with its own.
        changeOrigin: true,
      },
    },
  },
  build: {
    target: "es2022",
    // Small pictures as data: URLs would need an img-src that our policy has, but they cannot be
    // cached apart from the code.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: "vite-manifest.json",
    chunkSizeWarningLimit: 2000,
  },
  test: {
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: {
          name: "logic",
          include: ["src/**/*.test.ts"],
          environment: "node",
          // Nothing is shared that a test could change: one worker takes all files.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          ...withDocument,
          name: "pages",
          // Also those without an element of JSX that need a document.
          include: ["src/**/*.test.tsx"],
          exclude: MOCKED,
          // A fourth of the time was reading the same modules for each file.
          isolate: false,
        },
      },
      { extends: true, test: { ...withDocument, name: "mocked", include: MOCKED } },
    ],
  },
});
