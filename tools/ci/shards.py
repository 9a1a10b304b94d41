"""Shares a test file's tests among Bazel's shards, of which several run at a time.

    load_tests = shards.load_tests       # in the file, whose target has a shard_count

Without shards all tests run, in their order. What a class sets up each shard sets up for itself.
"""

import os
import unittest


def flat(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


# The protocol of unittest.
def load_tests(_loader, tests, _pattern):
    count = int(os.environ.get("TEST_TOTAL_SHARDS", "0"))
    if not count:
        return tests
    # Bazel takes a target for one without shards that does not leave this file.
    with open(os.environ["TEST_SHARD_STATUS_FILE"], "w", encoding="utf-8"):
        pass
    mine = list(flat(tests))[int(os.environ["TEST_SHARD_INDEX"])::count]
    return unittest.TestSuite(mine)
