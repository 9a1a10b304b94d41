#!/usr/bin/python3
"""Prints the tests of some logs that took longest: slowest.py COUNT LOG…

A log has lines "took 12.3 s NAME", which count_tests.py and e2e/cluster/result.py print.
"""

import re
import sys


def took(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.match(r"took +([0-9.]+) s (\S+)", line)
            if found:
                yield float(found[1]), found[2]


def main():
    count, logs = int(sys.argv[1]), sys.argv[2:]
    tests = sorted((test for log in logs for test in took(log)), reverse=True)
    total = sum(seconds for seconds, _ in tests)
    print(f"slowest {min(count, len(tests))} of {len(tests)} tests ({total:.0f} s in all):")
    for seconds, name in tests[:count]:
        print(f"{seconds:8.1f} s  {name}")


main()
