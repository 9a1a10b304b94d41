// Builds the page into dist/ and serves it during development.
//
// base "./" makes every URL of an asset relative, so that one build works under any sub-path.

import { statSync } from "node:fs";
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

const SRC = join(import.meta.dirname, "src");

// In the product the server writes the <base> by the depth of the path; here all is at the root.
const developmentBase: Plugin = {
  name: "taas-development-base",
  apply: "serve",
  transformIndexHtml: (html) => html.replace('<base href="./" />', '<base href="/" />'),
};

// Files of tests are dealt out by their size, the largest first: by their names one of two shards
// took three times as long as the other.
class BySize extends BaseSequencer {
  override shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    const shards = Array.from({ length: count }, () => ({ bytes: 0, files: files.slice(0, 0) }));
    const sized = files.map((file) => ({ file, bytes: bytesOf(file) }));
    sized.sort((a, b) => b.bytes - a.bytes || (a.file.moduleId < b.file.moduleId ? -1 : 1));
    for (const { file, bytes } of sized) {
      const least = shards.reduce((a, b) => (b.bytes < a.bytes ? b : a));
      least.files.push(file);
      least.bytes += bytes;
    }
    return Promise.resolve(shards[index - 1]?.files ?? []);
  }
}

// A file without a document takes next to nothing.
function bytesOf({ moduleId }: TestSpecification): number {
  return moduleId.endsWith(".tsx") ? statSync(moduleId).size : 1;
}

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
    sequence: { sequencer: BySize },
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
          name: "pages",
          // Also those without an element of JSX that need a document.
          include: ["src/**/*.test.tsx"],
          environment: "jsdom",
          environmentOptions: { jsdom: { url: "http://taas.test/" } },
          setupFiles: ["src/testing/setup.ts"],
          // See src/testing/setup.ts: several waits of a test may be long on a busy machine.
          testTimeout: 60_000,
          // There is no canvas. Who replaced the module by itself could not share the others.
          alias: [{ find: /^uplot$/, replacement: join(SRC, "pages/training/fake_plot.ts") }],
          // A fourth of the time was reading the same modules for each file.
          isolate: false,
        },
      },
    ],
  },
});
