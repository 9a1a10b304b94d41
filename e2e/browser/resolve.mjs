// Lets Node find what TypeScript's sources import without an ending, as the page's texts do.

import { registerHooks } from "node:module";

const ENDINGS = [".ts", "/index.ts"];

registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith(".")) return next(specifier, context);
    try {
      return next(specifier, context);
    } catch (error) {
      for (const ending of ENDINGS) {
        try {
          return next(specifier + ending, context);
        } catch {
          // The next ending, or the first error.
        }
      }
      throw error;
    }
  },
});
