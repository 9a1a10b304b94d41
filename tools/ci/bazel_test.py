#!/usr/bin/python3
"""What is said while Bazel works, with a program in its place that writes the events it would."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EVENTS = """\
{"id":{"targetConfigured":{"label":"//a:b_test"}},"configured":{"testSize":"SMALL"}}
{"id":{"targetConfigured":{"label":"//a:b"}},"configured":{"targetKind":"cc_library rule"}}
{"id":{"actionCompleted":{}},"action":{"success":true,"type":"CppCompile"}}
{"id":{"actionCompleted":{}},"action":{"success":true,"type":"CppLink"}}
{"id":{"actionCompleted":{}},"action":{"success":true,"type":"CppCompile"}}
{"id":{"testResult":{"label":"//a:b_test"}},"testResult":{"testAttemptDurationMillis":"1500"}}
{"id":{"testSummary":{"label":"//a:b_test"}},"testSummary":{"overallStatus":"PASSED"}}
"""
BIN = "bazel-out/x/bin"
FAKE = """\
#!/bin/sh
case $1 in
  info) echo "{built}" ;;
  aquery) for file in 1 2 3; do
       printf "action x\\n  Mnemonic: CppCompile\\n  Inputs: [a/$file.cc]\\n"
       printf "  Outputs: [bazel-out/x/bin/a/$file.pic.d, bazel-out/x/bin/a/$file.pic.o]\\n"
     done ;;
  *) for word; do
       case $word in --build_event_json_file=*) cat "{events}" >"${{word#*=}}" ;; esac
     done
     exit {code} ;;
esac
"""


class BazelTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def run_it(self, verb, code=3):
        bazel = self.write("bazel", FAKE.format(
            events=self.write("events", EVENTS), built=os.path.join(self.folder, BIN), code=code))
        return subprocess.run([sys.executable, os.path.join(HERE, "bazel.py"), bazel, verb,
                               "--disk_cache=" + os.path.join(self.folder, "cache"), "//a/..."],
                              text=True, capture_output=True, check=False)

    def test_a_first_build_counts_of_how_many_and_keeps_the_exit_code(self):
        done = self.run_it("build")
        self.assertIn("compiled 2 of 3 files", done.stderr)
        self.assertEqual(done.returncode, 3)

    # Symptom: behind the first of three programs the rest of a first build was counted without end.
    def test_what_an_earlier_part_of_a_first_build_has_compiled_is_not_counted_again(self):
        os.makedirs(os.path.join(self.folder, BIN, "a"))
        self.write(os.path.join(BIN, "a", "2.pic.o"), "")
        self.write(os.path.join(BIN, "a", "of_another.pic.o"), "")
        self.assertIn("compiled 2 of 2 files", self.run_it("build").stderr)

    def test_a_later_build_does_not_know_of_how_many(self):
        os.makedirs(os.path.join(self.folder, BIN))
        self.assertIn("compiled 2 of 3 files", self.run_it("build").stderr)
        self.assertIn("compiled 2 of 3 files", self.run_it("build", code=0).stderr)
        self.assertIn("compiled 2 files", self.run_it("build", code=0).stderr)

    def test_tests_are_counted_and_timed(self):
        done = self.run_it("test")
        self.assertIn("ran 1 of 1 tests", done.stderr)
        self.assertEqual(done.stdout, "took     1.5 s //a:b_test\n")

    def test_a_disk_cache_keeps_what_was_used_last(self):
        os.makedirs(os.path.join(self.folder, "cache", "cas"))
        for name, used in (("old", 1), ("new", 2)):
            path = self.write(os.path.join("cache", "cas", name), "")
            os.truncate(path, 8 * 10 ** 9)  # Holes, which take no room.
            os.utime(path, (used, used))
        self.assertIn("removed 8.0 GB", self.run_it("build").stderr)
        self.assertEqual(os.listdir(os.path.join(self.folder, "cache", "cas")), ["new"])

    def test_the_slowest_of_several_logs_come_first(self):
        logs = [self.write("one", "noise\ntook     1.5 s //a:b_test\ntook     0.1 s //a:c_test\n"),
                self.write("two", "FAILED e2e.T.test_x (30.0 s)\nFAILED e2e.T.test_x\n"
                           "ok     e2e.T.test_y (0.5 s)\n")]
        done = subprocess.run([sys.executable, os.path.join(HERE, "slowest.py"), "2", *logs],
                              text=True, capture_output=True, check=True)
        self.assertEqual(done.stdout.splitlines(), [
            "slowest 2 of 4 tests (32 s in all):", "    30.0 s  e2e.T.test_x",
            "     1.5 s  //a:b_test"])


if __name__ == "__main__":
    unittest.main()
