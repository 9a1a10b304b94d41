#!/usr/bin/python3
"""Prints the tests of some logs that took longest: slowest.py COUNT LOG…

A log has lines "took 12.3 s NAME", which bazel.py prints, or "ok NAME (12.3 s)", which
e2e/cluster/result.py does.
"""

import re
import sys


def took(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if found := re.match(r"took +(?P<s>[0-9.]+) s (?P<name>\S+)$", line):
                yield float(found["s"]), found["name"]
            elif found := re.match(r"(ok|FAILED) +(?P<name>\S+) \((?P<s>[0-9.]+) s\)$", line):
                yield float(found["s"]), found["name"]


def main():
    count, logs = int(sys.argv[1]), sys.argv[2:]
    tests = sorted((test for log in logs for test in took(log)), reverse=True)
    total = sum(seconds for seconds, _ in tests)
    print(f"slowest {min(count, len(tests))} of {len(tests)} tests ({total:.0f} s in all):")
    for seconds, name in tests[:count]:
        print(f"{seconds:8.1f} s  {name}")


main()
