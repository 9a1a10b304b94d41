// Writes FILE.br and FILE.gz beside every text asset in dist/, and dist/manifest.json, from which
// one learns what there is: path, type, size, hash, encodings, whether the name holds a hash of the
// content (then it may be cached for ever), and whether it is loaded before the first page shows.
//
// The same dist/ gives the same bytes: no time and no name of a machine goes in.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const DIST = join(import.meta.dirname, "..", "dist");

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
  ".png": "image/png",
  ".woff2": "font/woff2",
};
const BINARY = new Set([".png", ".woff2"]);
// Vite's names: name-HASH.ext with eight characters of base64url.
const HASHED = /-[\w-]{8}\.\w+$/;

function* filesUnder(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesUnder(path);
    else yield path;
  }
}

function compressed(bytes) {
  const br = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  const gz = gzipSync(bytes, { level: 9 });
  // Byte 9 of gzip names the system that wrote it: 255, unknown, everywhere.
  gz[9] = 255;
  return { br, gz };
}

// What index.html imports statically, by Vite's own manifest, which then goes: it is not served.
function firstLoad() {
  const path = join(DIST, "vite-manifest.json");
  const chunks = JSON.parse(readFileSync(path, "utf8"));
  rmSync(path);
  const wanted = new Set(["index.html"]);
  const take = (key) => {
    const chunk = chunks[key];
    if (wanted.has(chunk.file)) return;
    wanted.add(chunk.file);
    for (const style of chunk.css ?? []) wanted.add(style);
    for (const next of chunk.imports ?? []) take(next);
  };
  take("index.html");
  return wanted;
}

const first = firstLoad();
const files = [];
for (const path of [...filesUnder(DIST)]) {
  const name = relative(DIST, path).split(sep).join("/");
  const extension = extname(name);
  const type = TYPES[extension];
  if (type === undefined) {
    throw new Error(`compress ${name}: no media type is known for it; add one to TYPES`);
  }
  const bytes = readFileSync(path);
  const file = {
    path: name,
    type,
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    first: first.has(name),
    immutable: name.startsWith("assets/") && HASHED.test(name),
    encodings: {},
  };
  if (!BINARY.has(extension)) {
    for (const [encoding, body] of Object.entries(compressed(bytes))) {
      writeFileSync(`${path}.${encoding}`, body);
      file.encodings[encoding] = body.length;
    }
  }
  files.push(file);
}
writeFileSync(join(DIST, "manifest.json"), `${JSON.stringify({ files }, null, 1)}\n`);
process.stdout.write(`compress: ${files.length} files\n`);
