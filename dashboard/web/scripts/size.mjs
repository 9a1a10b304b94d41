// Fails when what the browser loads before the jobs page shows is over the budget.

import { readFileSync } from "node:fs";
import { join } from "node:path";

// A page that must open over a slow tunnel: about four seconds at 1 Mbit/s.
const BUDGET = 450_000;

const manifest = join(import.meta.dirname, "..", "dist", "manifest.json");
const { files } = JSON.parse(readFileSync(manifest, "utf8"));
const wanted = files.filter((file) => file.first);

let over = false;
for (const encoding of ["br", "gz"]) {
  const sum = wanted.reduce((before, file) => before + file.encodings[encoding], 0);
  over ||= sum > BUDGET;
  process.stdout.write(
    `first load, ${encoding}: ${sum} bytes of ${BUDGET} (${wanted.length} files)\n`,
  );
}
if (over) {
  process.stderr.write("size: the first load is over its budget; load parts of it lazily\n");
  process.exit(1);
}
