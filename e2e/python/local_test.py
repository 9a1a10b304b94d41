#!/usr/bin/python3
"""The Python client `taas` against the local cluster: each case is one run of client_cases.py."""

import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["TEST_SRCDIR"], "taas", "e2e", "local"))

from cluster import RUNFILES, Cluster  # pylint: disable=wrong-import-position

PYTHON = os.path.join(os.environ.get("TAAS_CLIENTS_BIN", "/TAAS_CLIENTS_BIN-is-not-set"), "python")
PROGRAM = os.path.join(RUNFILES, "e2e", "python", "client_cases.py")
PACKAGE = os.path.join(RUNFILES, "python")


class LocalTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs the clients, sets TAAS_CLIENTS_BIN")
        cls.cluster = Cluster()
        cls.cluster.environ.update(PYTHONPATH=PACKAGE, PYTHONDONTWRITEBYTECODE="1")
        cls.cluster.up()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def tearDown(self):
        # What one case trained is no checkpoint of the next.
        self.cluster.kubectl("delete", "tj,tfjob", "--all")
        self.cluster.wait_for("the end of its pods", lambda: "No resources" in
                              self.cluster.kubectl("get", "pods").stderr)
        for entry in os.scandir(self.cluster.out):
            shutil.rmtree(entry.path) if entry.is_dir() else os.remove(entry.path)

    def case(self, name, *arguments):
        done = self.cluster.run(PYTHON, PROGRAM, name, "--image", "own:1", "--examples",
                                os.path.join(RUNFILES, "examples"), *arguments, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], name + " done")
        return done.stdout

    def test_the_example_of_the_readme_as_it_stands(self):
        said = self.case("example", "--page", os.path.join(PACKAGE, "README.md"))
        self.assertRegex(said, r"Succeeded, step 2000/2000\naccuracy 0\.9")
        self.assertRegex(said, r"chief-0 evaluation at step 2000: accuracy = 0\.9")

    def test_a_job_is_submitted_awaited_and_its_logs_read_and_followed(self):
        self.case("train")

    def test_curves_of_the_chief_and_the_evaluator(self):
        self.case("series")

    def test_a_failure_and_what_cannot_be_scheduled_are_understood_from_the_exceptions(self):
        self.case("failure")

    def test_restarts_scale_suspend_resume_delete(self):
        self.case("life")

    def test_a_tfjob(self):
        self.case("tfjob")

    def test_what_the_cluster_refuses(self):
        self.case("refused")


if __name__ == "__main__":
    unittest.main(verbosity=2)
