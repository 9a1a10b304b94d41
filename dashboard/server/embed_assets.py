#!/usr/bin/env python3
"""Writes the built web page as a C++ source of compressed files.

    embed_assets.py OUT.inc DIST_FILE...

The build of dashboard/web leaves beside each text file its .gz and .br; `index.html` must be among
them. Names are taken from behind `dist/`.
"""

import gzip
import pathlib
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


def name_of(path: str) -> str:
    return path.split("/dist/", 1)[1]


def literal(data: bytes) -> str:
    # Octal escapes of three digits end by themselves, whatever follows.
    lines = []
    for at in range(0, len(data), 4096):
        lines.append('"' + "".join(f"\\{byte:03o}" for byte in data[at:at + 4096]) + '"')
    return "\n".join(lines) or '""'


def view(data: bytes) -> str:
    return f"std::string_view({literal(data)}, {len(data)})"


def main() -> int:
    out, paths = sys.argv[1], sys.argv[2:]
    files = {name_of(path): pathlib.Path(path).read_bytes() for path in paths}
    if "index.html" not in files:
        print("the web page has not been built: run `make web`", file=sys.stderr)
        return 1
    entries = []
    for name, data in sorted(files.items()):
        suffix = pathlib.PurePath(name).suffix
        if suffix in (".gz", ".br", ".map") or name == "manifest.json":
            continue
        if suffix not in TYPES:
            print(f"{name}: of what content type is {suffix}?", file=sys.stderr)
            return 1
        packed = files.get(name + ".gz") or gzip.compress(data, mtime=0)
        brotli = files.get(name + ".br", b"")
        entries.append(f'{{"{name}", "{TYPES[suffix]}", {view(packed)}, {view(brotli)}}},')
    pathlib.Path(out).write_text("\n".join(entries) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
