#!/usr/bin/python3
"""Runs Bazel and says how many files it has compiled: build.py BAZEL VERB WORD…

Words are Bazel's; those that begin with // are targets. A line every ten seconds, in place on a
terminal: "compiled 212 of 770 files, 3 min". Where there is an earlier build of the tree nobody
knows how many there will be, and "of 770" is left out. What Bazel prints is printed; the exit code is
its own.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

LOOK_S = 10
COMPILATION = "CppCompile"


def compilations(bazel, flags, targets):
    """How many files a first build of these targets compiles."""
    query = f'mnemonic("{COMPILATION}", deps(set({" ".join(targets)})))'
    found = subprocess.run([bazel, "aquery", *flags, "--noshow_progress", query], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return len(re.findall(rf"^  Mnemonic: {COMPILATION}$", found.stdout, re.M))


def is_first(bazel, flags):
    """Whether nothing was compiled here yet."""
    folder = subprocess.run([bazel, "info", *flags, "bazel-bin"], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    return not os.path.isdir(os.path.join(folder, "operator"))


class Progress:
    """Counts the compilations that Bazel writes into a file of events, and prints the count."""

    def __init__(self, events, total):
        self.events = events
        self.total = total
        self.rest = ""  # Of a line that is being written.
        self.count = 0
        self.said = 0
        self.began = time.monotonic()
        self.in_place = sys.stderr.isatty()

    def look(self):
        *lines, self.rest = (self.rest + self.events.read()).split("\n")
        self.count += sum(json.loads(line).get("action", {}).get("type") == COMPILATION
                          for line in lines)
        if self.count == self.said:
            return
        self.said = self.count
        total = f" of {self.total}" if self.total >= self.count else ""
        minutes = (time.monotonic() - self.began) / 60
        line = f"compiled {self.count}{total} files, {minutes:.1f} min"
        print(f"\r{line}" if self.in_place else line, end="" if self.in_place else "\n",
              file=sys.stderr, flush=True)

    def until(self, ended):
        while not ended.wait(LOOK_S):
            self.look()
        self.look()
        if self.in_place and self.said:
            print(file=sys.stderr)


def main():
    bazel, verb, *words = sys.argv[1:]
    targets = [word for word in words if word.startswith(("//", "@", ":"))]
    flags = [word for word in words if word not in targets]
    total = compilations(bazel, flags, targets) if is_first(bazel, flags) else 0
    with tempfile.NamedTemporaryFile(prefix="taas-build-", suffix=".json", mode="r") as events:
        ended = threading.Event()
        thread = threading.Thread(target=Progress(events, total).until, args=(ended,))
        thread.start()
        try:
            return subprocess.run(
                [bazel, verb, *flags, "--noshow_progress", "--build_event_publish_all_actions",
                 f"--build_event_json_file={events.name}", "--", *targets], check=False).returncode
        except KeyboardInterrupt:
            return 130
        finally:
            ended.set()
            thread.join()


if __name__ == "__main__":
    sys.exit(main())
