#!/usr/bin/python3
"""Every example runs as its first lines say, and learns."""

import glob
import json
import os
import unittest

from cluster import LIMIT_S, RUNFILES, Cluster

# Run by main_job_test.
MAIN_JOB = {"mnist", "mnist-local"}
# Programs that train nothing.
WITHOUT_ACCURACY = {"own-image"}


class ExamplesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def names(self):
        files = glob.glob(os.path.join(RUNFILES, "examples", "*.yaml"))
        names = {os.path.splitext(os.path.basename(file))[0] for file in files} - MAIN_JOB
        self.assertGreaterEqual(len(names), 7)
        return sorted(names)

    def run_example(self, name):
        done = self.cluster.run(
            self.cluster.taas,
            "local",
            "ci",
            "-f",
            self.cluster.example(name),
            "--volume",
            f"mnist-data={self.cluster.data}",
            "--volume",
            f"mnist-out={self.cluster.out}",
            "--timeout",
            str(LIMIT_S),
            "-o",
            "json",
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_every_example_succeeds_and_learns(self):
        for name in self.names():
            with self.subTest(name):
                result = self.run_example(name)
                self.assertEqual(result["state"], "Succeeded")
                if name not in WITHOUT_ACCURACY:
                    self.assertGreaterEqual(result["accuracy"], 0.93)
                self.assertEqual(self.cluster.processes(), [])

    def test_every_example_is_valid(self):
        for name in self.names():
            with self.subTest(name):
                self.cluster.run(self.cluster.taas, "validate", "-f", self.cluster.example(name))


if __name__ == "__main__":
    unittest.main()
