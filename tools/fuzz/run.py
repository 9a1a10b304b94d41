#!/usr/bin/python3
"""Runs fuzz targets with libFuzzer, one after the other, and says what each found.

    tools/fuzz/run.py --minutes 3 --corpus DIR --build "bazel build …" --query "bazel query" \\
                      [TARGET…]

Without a TARGET (//trainer/data/fuzz:idx_fuzz, //trainer/...) all run. What reached new code stays
in DIR/NAME, from which the next run begins; an input that broke a target is in DIR/NAME-found. It
belongs, with a test, into testdata/fuzz/NAME beside the target.
"""

import argparse
import glob
import os
import shlex
import subprocess
import sys
import time

SUFFIX = "_libfuzzer"
# As the test of the same targets has them (fuzz_main.cc), and what sanitizers need besides.
INPUT_BYTES = 64 << 10
INPUT_SECONDS = 60
MEMORY_MIB = 3072


def targets_of(query, patterns):
    wanted = [p + SUFFIX if p.endswith("_fuzz") else p for p in patterns] or ["//..."]
    expression = f"attr(tags, libfuzzer, set({' '.join(wanted)}))"
    text = subprocess.run(shlex.split(query) + [expression], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return sorted(text.split())


def run_one(binary, label, options):
    folder, name = label[2:].split(":")
    name = name.removesuffix(SUFFIX)
    corpus = os.path.join(options.corpus, name)
    seeds, found = corpus + "-seeds", corpus + "-found"
    for directory in (corpus, seeds, found):
        os.makedirs(directory, exist_ok=True)
    known = [path for path in [f"{folder}/testdata/fuzz/{name}"] if os.path.isdir(path)]
    before = set(glob.glob(found + "/*"))
    log = os.path.join(found, "log")
    started = time.monotonic()
    with open(log, "w", encoding="utf-8") as out:
        code = subprocess.run(
            [binary, f"-max_total_time={int(options.minutes * 60)}", f"-artifact_prefix={found}/",
             f"-max_len={INPUT_BYTES}", f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={MEMORY_MIB}",
             "-print_final_stats=1", corpus, seeds, *known],
            stdout=out, stderr=subprocess.STDOUT, check=False,
            env={**os.environ, "TAAS_FUZZ_SEEDS": seeds}).returncode
    with open(log, encoding="utf-8", errors="replace") as file:
        runs = [line.split()[-1] for line in file if "number_of_executed_units" in line]
    new = sorted(set(glob.glob(found + "/*")) - before - {log})
    print(f"{label.removesuffix(SUFFIX)}: {runs[0] if runs else 'no'} inputs in "
          f"{time.monotonic() - started:.0f} s, " +
          ("nothing found" if code == 0 else f"ended with {code}: {' '.join(new) or log}"),
          flush=True)
    return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--query", required=True)
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    labels = targets_of(options.query, options.targets)
    if not labels:
        sys.exit("fuzz: there is no such target")
    build = shlex.split(options.build)
    if subprocess.run(build + labels, check=False).returncode != 0:
        sys.exit("fuzz: the targets cannot be built")
    info = [part for part in build if part != "--noshow_progress"]
    info[info.index("build")] = "info"
    folder = subprocess.run(info + ["bazel-bin"], check=True, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL).stdout.strip()
    good = [run_one(os.path.join(folder, label[2:].replace(":", "/")), label, options)
            for label in labels]
    print(f"{sum(good)} targets without a finding, {len(good) - sum(good)} with one")
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
