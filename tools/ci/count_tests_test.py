#!/usr/bin/python3
"""Results of targets with and without shards are counted, and those of earlier runs are not; what
is skipped is counted by what it needs, where that is known."""

import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "count_tests.py")
FAILED = '<testcase classname="A" name="b"><failure/></testcase>'
PASSED = '<testcase classname="A" name="c" status="run"/>'
NOT_MINE = '<testcase classname="A" name="d" status="notrun"/>'


def skipped(why):
    """As GoogleTest says it."""
    return (f'<testcase classname="A" name="e" status="run" result="skipped"><skipped '
            f'message="a_test.cc:7&#x0A;{why}&#x0A;"/></testcase>')


def python_log(*lines):
    """As Bazel keeps it of a program that writes no result."""
    return ('<testcase name="a/x_test" status="run"></testcase><system-out>\nGenerated test.log\n'
            '<![CDATA[' + "\n".join(lines) + "\n]]></system-out>")


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
        self.code = done.returncode
        return done.stdout.splitlines()

    def test_shards_are_added_up(self):
        self.leave("a/x_test/shard_1_of_2", PASSED + NOT_MINE)
        self.leave("a/x_test/shard_2_of_2", PASSED + FAILED)
        self.leave("b/y_test", PASSED)
        self.assertEqual(self.count("//a:x_test", "//b:y_test")[-2:],
                         ["FAILED //a:x_test A.b", "3 passed, 1 failed"])

    def test_what_a_failed_test_said_is_printed(self):
        """Symptom: the page said so, and only names of cases were."""
        self.leave("a/x_test", '<testcase classname="A" name="b"><failure '
                   'message="x_test.cc:7&#x0A;Which is: 8"/></testcase>')
        self.leave("b/y_test", FAILED)
        with open(os.path.join(self.logs, "b/y_test", "test.log"), "w", encoding="utf-8") as file:
            file.write("1.5: linux-sandbox.cc:1: calling\n" + "line\n" * 90 + "KeyError: 'z'\n")
        printed = self.count("//a:x_test", "//b:y_test")
        log = os.path.join(self.logs, "a/x_test/test.log")
        self.assertEqual(printed[:3], [f"//a:x_test said, and all of it is in {log}:",
                                       "x_test.cc:7", "Which is: 8"])
        self.assertEqual(printed[-4:], ["KeyError: 'z'", "FAILED //a:x_test A.b",
                                        "FAILED //b:y_test A.b", "0 passed, 2 failed"])
        self.assertEqual(printed.count("line"), 39)
        self.assertNotIn("sandbox", "".join(printed))

    def test_the_last_run_counts_however_many_shards_it_had(self):
        self.leave("a/x_test", FAILED, age=90)
        self.leave("a/x_test/shard_1_of_3", FAILED, age=60)
        self.leave("a/x_test/shard_1_of_2", PASSED)
        self.leave("a/x_test/shard_2_of_2", PASSED, age=20)
        self.assertEqual(self.count("//a:x_test"), ["2 passed, 0 failed"])

    # Symptom: of fifty runs that all passed one was said to have failed, of five runs before.
    def test_the_last_run_counts_however_often_it_ran_each(self):
        self.leave("a/x_test/run_4_of_5", FAILED, age=60)
        self.leave("a/x_test/shard_1_of_2_run_1_of_2", FAILED, age=50)
        self.leave("a/x_test/run_1_of_2", PASSED, age=10)
        self.leave("a/x_test/run_2_of_2", PASSED)
        self.assertEqual(self.count("//a:x_test"), ["2 passed, 0 failed"])

    # Symptom: tests of bfloat16 passed on processors that have none.
    def test_what_is_skipped_for_want_of_what_not_all_have_is_counted_by_it(self):
        self.leave("a/x_test", PASSED + skipped("needs: AVX512_BF16") * 2)
        self.leave("b/y_test", skipped("needs: TAAS_FIXTURES") + PASSED)
        self.assertEqual(self.count("//a:x_test", "//b:y_test"),
                         ["3 skipped for want of: AVX512_BF16 (2), TAAS_FIXTURES (1)",
                          "2 passed, 0 failed"])
        self.assertEqual(self.code, 0)

    def test_what_is_skipped_for_another_reason_has_failed(self):
        self.leave("a/x_test", PASSED + skipped("it is slow") + skipped("needs: patience"))
        self.leave("b/y_test", '<testcase classname="A" name="f"><skipped/></testcase>')
        self.assertEqual(self.count("//a:x_test", "//b:y_test"),
                         ["FAILED //a:x_test e (skipped)"] * 2 +
                         ["FAILED //b:y_test f (skipped)", "1 passed, 3 failed"])
        self.assertEqual(self.code, 1)

    def test_a_run_of_nothing_but_skipped_tests_has_not_passed(self):
        self.leave("a/x_test", skipped("needs: root"))
        self.assertEqual(self.count("//a:x_test"),
                         ["1 skipped for want of: root (1)", "0 passed, 0 failed"])
        self.assertEqual(self.code, 1)

    # Symptom: what a test in Python skipped was nowhere to be seen.
    def test_what_a_program_in_python_skips_is_counted_from_its_log(self):
        self.leave("a/x_test", python_log(
            "test_a (__main__.T.test_a) ... ok",
            "test_b (__main__.T.test_b) ... skipped 'needs: TAAS_FIXTURES'",
            'test_c (__main__.T.test_c) ... skipped "needs: Kubernetes\' Go modules"',
            "test_d (__main__.T.test_d)", "What it tests. ... skipped 'on Mondays'",
            "Ran 4 tests in 0.028s", "", "OK (skipped=3)", "1795: sandbox"))
        self.assertEqual(self.count("//a:x_test"), [
            "FAILED //a:x_test (skipped)",
            "2 skipped for want of: Kubernetes' Go modules (1), TAAS_FIXTURES (1)",
            "1 passed, 1 failed"])

    def test_a_program_in_python_that_does_not_say_why_it_skips_has_failed(self):
        self.leave("a/x_test", python_log("s.", "Ran 2 tests in 0.028s", "", "OK (skipped=1)"))
        self.assertEqual(self.count("//a:x_test"),
                         ["FAILED //a:x_test (skipped)", "1 passed, 1 failed"])

    def test_a_target_without_results_has_failed(self):
        self.assertEqual(self.count("//a:x_test"),
                         ["FAILED //a:x_test (no result)", "0 passed, 1 failed"])


if __name__ == "__main__":
    unittest.main()
