#!/usr/bin/python3
"""Each test is in one shard, and all are where there are none."""

import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shards  # pylint: disable=wrong-import-position


def names(environ):
    nested = unittest.TestSuite([unittest.TestSuite(test() for _ in range(5)), test()])
    order = list(shards.flat(nested))
    with mock.patch.dict(os.environ, environ):
        loaded = list(shards.flat(shards.load_tests(None, nested, None)))
    return [[each is other for other in order].index(True) for each in loaded]


def test():
    return unittest.FunctionTestCase(lambda: None)


class ShardsTest(unittest.TestCase):

    def test_without_shards_all_are_there(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("TEST_TOTAL_SHARDS", None)
            self.assertEqual(names({}), [0, 1, 2, 3, 4, 5])

    def test_each_is_in_one_shard_and_bazel_is_told_that_there_are_some(self):
        with tempfile.TemporaryDirectory() as folder:
            status = os.path.join(folder, "status")
            found = [names({"TEST_TOTAL_SHARDS": "4", "TEST_SHARD_INDEX": str(index),
                            "TEST_SHARD_STATUS_FILE": status}) for index in range(4)]
            self.assertTrue(os.path.exists(status))
        self.assertEqual(found, [[0, 4], [1, 5], [2], [3]])


if __name__ == "__main__":
    unittest.main()
