"""What came of tests: a line for each as it ends, and traces of a failed one.

    result = Result(cluster)
    unittest.TestSuite(tests).run(result)
    result.passed, result.failed

A result is of one thread; those of several are added up when they have ended.
"""

import contextlib
import time
import unittest

from scenario import Scenario


class Result(unittest.TestResult):
    """Prints a line for each test, and keeps traces of a failed one while its objects are there."""

    def __init__(self, cluster):
        super().__init__()
        self.cluster = cluster
        self.passed = 0
        self.failed = []

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()
        self.good = True

    def _fail(self, test, error):
        self.good = False
        print("".join(self._exc_info_to_string(error, test)), flush=True)
        if isinstance(test, Scenario) and hasattr(test, "namespace"):
            with contextlib.suppress(Exception):
                test.keep_traces()

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(test, error)
        if not isinstance(test, unittest.TestCase):
            # A class or a module that could not be set up has no stopTest.
            self.failed.append(str(test))

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            print(f"in {subtest}", flush=True)
            self._fail(test, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.good = False
        print(f"skipped: {reason}", flush=True)
        if not isinstance(test, unittest.TestCase):
            self.failed.append(str(test))

    def stopTest(self, test):
        super().stopTest(test)
        word = "ok" if self.good else "FAILED"
        print(f"{word:6} {test.id()} ({time.monotonic() - self.began:.1f} s)", flush=True)
        if self.good:
            self.passed += 1
        else:
            self.failed.append(test.id())

    def add(self, other):
        """What came of other tests too."""
        self.passed += other.passed
        self.failed += other.failed
