#!/usr/bin/python3
"""Results of targets with and without shards are counted, and those of earlier runs are not."""

import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "count_tests.py")
FAILED = '<testcase classname="A" name="b"><failure/></testcase>'
PASSED = '<testcase classname="A" name="c" status="run"/>'
NOT_MINE = '<testcase classname="A" name="d" status="notrun"/>'


class CountTestsTest(unittest.TestCase):

    def setUp(self):
        self.logs = self.enterContext(tempfile.TemporaryDirectory())

    def leave(self, path, cases, age=0):
        path = os.path.join(self.logs, path, "test.xml")
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))

    def count(self, *labels):
        done = subprocess.run([sys.executable, PROGRAM, "0", self.logs], input="\n".join(labels),
                              text=True, stdout=subprocess.PIPE, check=False)
        return done.stdout.splitlines()

    def test_shards_are_added_up(self):
        self.leave("a/x_test/shard_1_of_2", PASSED + NOT_MINE)
        self.leave("a/x_test/shard_2_of_2", PASSED + FAILED)
        self.leave("b/y_test", PASSED)
        self.assertEqual(self.count("//a:x_test", "//b:y_test"),
                         ["FAILED //a:x_test A.b", "3 passed, 1 failed"])

    def test_the_last_run_counts_however_many_shards_it_had(self):
        self.leave("a/x_test", FAILED, age=90)
        self.leave("a/x_test/shard_1_of_3", FAILED, age=60)
        self.leave("a/x_test/shard_1_of_2", PASSED)
        self.leave("a/x_test/shard_2_of_2", PASSED, age=20)
        self.assertEqual(self.count("//a:x_test"), ["2 passed, 0 failed"])

    def test_a_target_without_results_has_failed(self):
        self.assertEqual(self.count("//a:x_test"),
                         ["FAILED //a:x_test (no result)", "0 passed, 1 failed"])


if __name__ == "__main__":
    unittest.main()
