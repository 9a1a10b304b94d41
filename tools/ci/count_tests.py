#!/usr/bin/python3
"""Counts the test cases of a Bazel run from the results it left.

Reads test labels on standard input, one a line. Arguments: the exit code of `bazel test`, and the
folder of its logs. Prints the failing cases and, last, "N passed, N failed". A target without
results (it did not build) is one failure. Exits 0 only when Bazel did and nothing failed.
"""

import collections
import glob
import os
import re
import sys
import xml.etree.ElementTree as xml


def cases_of(logs, label):
    """(passed, [failed names]) of one target, which may have run in shards."""
    package, name = label.removeprefix("//").split(":")
    results = newest(os.path.join(logs, package, name))
    if not results:
        return 0, [f"{label} (no result)"]
    counts = [cases_in(path, label) for path in results]
    return sum(passed for passed, _ in counts), [name for _, failed in counts for name in failed]


def newest(folder):
    """Results of the last run: an earlier one in more or fewer shards has left its own."""
    runs = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "**", "test.xml"), recursive=True)):
        shard = re.search(r"/shard_\d+_of_(\d+)/", path)
        runs[shard and shard[1]].append(path)
    return max(runs.values(), key=lambda paths: max(map(os.path.getmtime, paths)), default=[])


def cases_in(path, label):
    try:
        root = xml.parse(path).getroot()
    except xml.ParseError as error:
        return 0, [f"{label} (result not readable: {error})"]
    passed, failed = 0, []
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{label} {case.get('classname', '')}.{case.get('name', '')}")
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            failed.append(f"{label} {case.get('name', '')} (skipped)")
        elif case.get("status") != "notrun":
            passed += 1
    return passed, failed


def main():
    bazel_status, logs = int(sys.argv[1]), sys.argv[2]
    passed, failed = 0, []
    for label in sorted(line.strip() for line in sys.stdin if line.strip()):
        ok, bad = cases_of(logs, label)
        passed += ok
        failed += bad
    if bazel_status != 0 and not failed:
        failed.append(f"bazel test ended with {bazel_status}")
    for name in failed:
        print(f"FAILED {name}")
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed or passed == 0 else 0)


main()
