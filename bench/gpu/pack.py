#!/usr/bin/python3
"""Packs what `check` runs on a machine with a GPU: one archive, and `check` beside it.

    bench/gpu/pack.py --bazel-bin DIR --out dist/gpu        (make gpu-pack)

The archive has the programs, stripped; the shared libraries that they need, but those that every
Linux has (PROVIDED); the scripts; the results that are in the tree; and pack.json: the commit, and
a digest of the code that decides what a GPU computes. Fails above MIB_MAX.
"""

import argparse
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = ("trainer/cmd/taas-trainer", "trainer/kernels/cuda/testing/parity",
            "bench/gpu/gpu_bench")
SCRIPTS = ("bench/gpu/peers.py", "bench/gpu/peer_models.py", "trainer/testing/torch_models.py")
RESULTS = "bench/gpu/results"
# The C library's, which belong together, and the compiler's: those of the machine are newer.
PROVIDED = re.compile(r"(libc|libm|libmvec|libdl|libpthread|librt|libresolv|libutil|libanl"
                      r"|ld-linux-x86-64|linux-vdso|libstdc\+\+|libgcc_s)\.so\b")
# What lies beside the tree where it is borrowed has to stay small.
MIB_MAX = 40
GPU_CODE = ("trainer/cuda", "trainer/kernels/cuda")


def libraries_of(program):
    """Their paths by their names, but for what is PROVIDED."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in said.splitlines():
        name = line.split()[0]
        if PROVIDED.match(os.path.basename(name)):
            continue
        path = re.search(r"=> (/\S+)", line)
        if path is None:
            raise SystemExit(f"gpu-pack: {program} needs {name}, which is not there")
        found[name] = path[1]
    return found


def digest_of_gpu_code():
    """Of names and contents of the files whose change can change what a GPU computes."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--", *GPU_CODE], check=True,
                            capture_output=True, text=True).stdout.split("\0")
    digest = hashlib.sha256()
    for name in sorted(name for name in listed if name.endswith((".cu", ".h", ".cc"))):
        digest.update(f"{name}\0".encode())
        with open(f"{ROOT}/{name}", "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:16]


def commit():
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True,
                              text=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "HEAD") + (" and changes" if changed else "")


def add_bytes(archive, name, data):
    info = tarfile.TarInfo(f"pack/{name}")
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def pack(bazel_bin, path):
    with tempfile.TemporaryDirectory() as folder, tarfile.open(path, "w:xz", preset=6) as archive:
        libraries = {}
        for program in PROGRAMS:
            libraries |= libraries_of(f"{bazel_bin}/{program}")
            stripped = f"{folder}/{os.path.basename(program)}"
            subprocess.run(["strip", "-o", stripped, f"{bazel_bin}/{program}"], check=True)
            archive.add(stripped, f"pack/bin/{os.path.basename(program)}")
        for name, library in sorted(libraries.items()):
            archive.add(os.path.realpath(library), f"pack/lib/{name}")
        for script in SCRIPTS:
            archive.add(f"{ROOT}/{script}", f"pack/{os.path.basename(script)}")
        for name in sorted(os.listdir(f"{ROOT}/{RESULTS}")):
            if name.endswith(".json"):
                archive.add(f"{ROOT}/{RESULTS}/{name}", f"pack/results/{name}")
        about = {"commit": commit(), "gpuCode": digest_of_gpu_code()}
        add_bytes(archive, "pack.json", json.dumps(about).encode())
    return about


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bazel-bin", required=True, metavar="DIR")
    parser.add_argument("--out", required=True, metavar="DIR")
    flags = parser.parse_args()
    os.makedirs(flags.out, exist_ok=True)
    path = f"{flags.out}/pack.tar.xz"
    about = pack(flags.bazel_bin, path)
    with open(f"{ROOT}/bench/gpu/check", "rb") as file:
        script = file.read()
    with open(f"{flags.out}/check", "wb") as file:
        file.write(script)
    os.chmod(f"{flags.out}/check", 0o755)
    mib = os.path.getsize(path) / 2**20
    print(f"{path}: {mib:.1f} MiB, commit {about['commit']}, GPU code {about['gpuCode']}")
    if mib > MIB_MAX:
        print(f"gpu-pack: that is more than {MIB_MAX} MiB", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
