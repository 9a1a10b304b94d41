#!/usr/bin/python3
"""Runs Bazel and says how far it is: bazel.py BAZEL build|test WORD…

Words are Bazel's; those that begin with // are targets. A line every ten seconds, in place on a
terminal: "compiled 212 of 770 files, ran 0 of 408 tests, 3.1 min". Of targets that were built here
before nobody knows how many files there will be: "of 770" is left out. What Bazel prints is
printed; the exit code is its own. After tests it says how long each took. After a build that
compiled something, what was used longest ago goes from a disk cache that has grown too large.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import prune

LOOK_S = 10
COMPILATION = "CppCompile"
DISK_CACHE = "--disk_cache="
# The tree in one configuration, with all tests, takes some 5 GB: there is room for what is built of
# other branches, and for one with a sanitizer.
DISK_CACHE_GIGABYTES_MAX = 12


def objects(bazel, flags, targets):
    """Those that these targets are made of, as paths below the folder that Bazel works in."""
    query = f'mnemonic("{COMPILATION}", deps(set({" ".join(targets)})))'
    found = subprocess.run([bazel, "aquery", *flags, "--noshow_progress", query], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return re.findall(r"[\[ ](bazel-out/\S+\.o)[,\]]", found.stdout)


def outputs(bazel, flags):
    """Where what is built lies."""
    return subprocess.run([bazel, "info", *flags, "bazel-bin"], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()


def mark(folder, targets):
    """A file that is there once these were built."""
    name = hashlib.sha256(" ".join(targets).encode()).hexdigest()[:16]
    return os.path.join(folder, f"taas-built-{name}")


def left_to_compile(bazel, flags, targets, folder):
    """How many files, in a first build of these targets; 0: not known. Others may have been built,
    of which some are parts of these."""
    if os.path.exists(mark(folder, targets)):
        return 0
    root = folder.split("/bazel-out/")[0]
    return sum(not os.path.exists(os.path.join(root, it)) for it in objects(bazel, flags, targets))


def note_built(folder, targets):
    if os.path.isdir(folder):
        with open(mark(folder, targets), "w", encoding="utf-8"):
            pass


class Progress:
    """Counts in the events that Bazel writes into a file, and prints the counts."""

    def __init__(self, events, files):
        self.events = events
        self.rest = ""  # Of a line that is being written.
        self.files, self.compiled = files, 0
        self.tests, self.ran = 0, 0
        self.seconds = {}  # Of each test.
        self.said = None
        self.began = time.monotonic()
        self.in_place = sys.stderr.isatty()

    def count(self, event):
        self.compiled += event.get("action", {}).get("type") == COMPILATION
        self.tests += "testSize" in event.get("configured", {})
        self.ran += "testSummary" in event["id"]
        if "testResult" in event["id"]:
            label = event["id"]["testResult"]["label"]
            milliseconds = int(event["testResult"].get("testAttemptDurationMillis", 0))
            self.seconds[label] = self.seconds.get(label, 0) + milliseconds / 1000

    def words(self):
        if self.compiled:
            of = f" of {self.files}" if self.files >= self.compiled else ""
            yield f"compiled {self.compiled}{of} files"
        if self.ran:
            yield f"ran {self.ran} of {self.tests} tests"

    def look(self):
        *lines, self.rest = (self.rest + self.events.read()).split("\n")
        for line in lines:
            self.count(json.loads(line))
        words = ", ".join(self.words())
        if words in (self.said, ""):
            return
        self.said = words
        minutes = (time.monotonic() - self.began) / 60
        line = f"{words}, {minutes:.1f} min"
        print(f"\r{line}" if self.in_place else line, end="" if self.in_place else "\n",
              file=sys.stderr, flush=True)

    def until(self, ended):
        while not ended.wait(LOOK_S):
            self.look()
        self.look()
        if self.in_place and self.said:
            print(file=sys.stderr)


def keep_small(flags):
    for flag in flags:
        if flag.startswith(DISK_CACHE):
            prune.run(flag[len(DISK_CACHE):], DISK_CACHE_GIGABYTES_MAX)


def main():
    bazel, verb, *words = sys.argv[1:]
    targets = [word for word in words if word.startswith(("//", "@", ":"))]
    flags = [word for word in words if word not in targets]
    folder = outputs(bazel, flags) if verb == "build" else ""
    total = left_to_compile(bazel, flags, targets, folder) if folder else 0
    with tempfile.NamedTemporaryFile(prefix="taas-build-", suffix=".json", mode="r") as events:
        ended = threading.Event()
        progress = Progress(events, total)
        thread = threading.Thread(target=progress.until, args=(ended,))
        thread.start()
        try:
            code = subprocess.run(
                [bazel, verb, *flags, "--noshow_progress", "--build_event_publish_all_actions",
                 f"--build_event_json_file={events.name}", "--", *targets], check=False).returncode
            if code == 0:
                note_built(folder, targets)
            return code
        except KeyboardInterrupt:
            return 130
        finally:
            ended.set()
            thread.join()
            for label, seconds in progress.seconds.items():
                print(f"took {seconds:7.1f} s {label}", flush=True)
            if progress.compiled:
                keep_small(flags)


if __name__ == "__main__":
    sys.exit(main())
