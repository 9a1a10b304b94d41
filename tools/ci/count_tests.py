#!/usr/bin/python3
"""Counts the test cases of a Bazel run from the results it left.

Reads test labels on standard input, one a line. Arguments: the exit code of `bazel test`, and the
folder of its logs. Prints what failing tests said, the failing cases, how many were skipped for
want of what, if any, and, last, "N passed, N failed". A target without results (it did not build)
is one failure, and so is a case that was skipped for a reason that is not in NEEDS. Exits 0 only
when Bazel did, nothing failed and something passed.
"""

import collections
import glob
import os
import re
import sys
import xml.etree.ElementTree as xml

# Of what a failed test said, and of how many: the rest is in their logs, which are named.
SAID_LINES_MAX, SAID_TESTS_MAX, SAID_COLUMNS_MAX = 40, 20, 500
# Of Bazel's sandbox, where it is told to say what it does.
NOISE = re.compile(r"linux-sandbox|^exec \$\{PAGER")

# What not every machine or run has: a test says "needs: " and one of these where it is skipped.
NEEDS = (
    "AVX512_BF16",             # A processor with products in bfloat16.
    "Kubernetes' Go modules",  # In the cache, until somebody deletes them.
    "TAAS_FIXTURES",           # FIXTURES=DIR of files that real TensorFlow wrote.
    "network namespaces",      # The right to make some, with ip, tc, nft and TUN.
    "no sanitizer",            # Which takes what is tested: address space, the only thread.
    "root",
)
NEED = re.compile(r"^needs: (.+)$", re.MULTILINE)
# Of a Python program, whose result is one case and its log.
PYTHON_END = re.compile(r"^(?:OK|FAILED) \(.*\bskipped=(\d+).*\)$", re.MULTILINE)
PYTHON_NEED = re.compile(r"\.\.\. skipped [\"']needs: (.+)[\"']$", re.MULTILINE)


class Counts:
    def __init__(self):
        self.passed = 0
        self.failed = []  # Names.
        self.said = []    # By those that failed, a text each.
        self.skipped = collections.Counter()  # By need.

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.said += other.said
        self.skipped += other.skipped

    def skip(self, need, name):
        if need in NEEDS:
            self.skipped[need] += 1
        else:
            self.failed.append(f"{name} (skipped)")


def counts_of(logs, label):
    """Of one target, which may have run in shards."""
    package, name = label.removeprefix("//").split(":")
    counts = Counts()
    results = newest(os.path.join(logs, package, name))
    if not results:
        counts.failed.append(f"{label} (no result)")
    for path in results:
        counts.add(counts_in(path, label))
    return counts


def newest(folder):
    """Results of the last run: an earlier one in other shards, or so often, has left its own."""
    runs = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "**", "test.xml"), recursive=True)):
        runs[tuple(re.findall(r"(shard|run)_\d+_of_(\d+)", path))].append(path)
    return max(runs.values(), key=lambda paths: max(map(os.path.getmtime, paths)), default=[])


def counts_in(path, label):
    counts = Counts()
    try:
        root = xml.parse(path).getroot()
    except xml.ParseError as error:
        counts.failed.append(f"{label} (result not readable: {error})")
        return counts
    for case in root.iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed.append(f"{label} {case.get('classname', '')}.{case.get('name', '')}")
        elif skipped is not None or case.get("result") == "skipped":
            need = skipped is not None and NEED.search(skipped.get("message", ""))
            counts.skip(need[1] if need else None, f"{label} {case.get('name', '')}")
        elif case.get("status") != "notrun":
            counts.passed += 1
    for log in root.iter("system-out"):
        skip_in_log(log.text or "", label, counts)
    said = said_in(path, root) if counts.failed else []
    if said:
        log = os.path.join(os.path.dirname(path), "test.log")
        counts.said.append("\n".join([f"{label} said, and all of it is in {log}:", *said]))
    return counts


def said_in(path, root):
    """Lines that a failed test said: GoogleTest's words of each failure, else its log's end."""
    log = os.path.join(os.path.dirname(path), "test.log")
    texts = [failure.get("message") or "" for failure in root.iter("failure")]
    lines = "\n".join(filter(None, texts)).splitlines()
    if not lines and os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    lines = [line[:SAID_COLUMNS_MAX] for line in lines if line and not NOISE.search(line)]
    return lines[:SAID_LINES_MAX] if any(texts) else lines[-SAID_LINES_MAX:]


def skip_in_log(log, label, counts):
    """The program has passed or failed as one case; what it left out comes on top."""
    end = PYTHON_END.search(log)
    if end is None:
        return
    needs = [match[1] for match in PYTHON_NEED.finditer(log)]
    needs += [None] * (int(end[1]) - len(needs))
    for need in needs:
        counts.skip(need, label)


def main():
    bazel_status, logs = int(sys.argv[1]), sys.argv[2]
    counts = Counts()
    for label in sorted(line.strip() for line in sys.stdin if line.strip()):
        counts.add(counts_of(logs, label))
    if bazel_status != 0 and not counts.failed:
        counts.failed.append(f"bazel test ended with {bazel_status}")
    for said in counts.said[:SAID_TESTS_MAX]:
        print(said)
    for name in counts.failed:
        print(f"FAILED {name}")
    if counts.skipped:
        needs = ", ".join(f"{need} ({count})" for need, count in sorted(counts.skipped.items()))
        print(f"{counts.skipped.total()} skipped for want of: {needs}")
    print(f"{counts.passed} passed, {len(counts.failed)} failed")
    sys.exit(1 if counts.failed or counts.passed == 0 else 0)


main()
