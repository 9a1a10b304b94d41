#!/usr/bin/python3
"""The programs, the file VERSION and the default image are of one release."""

import os
import subprocess
import unittest

RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], "taas")
PROGRAMS = {"taas": "cli/taas", "taas-operator": "operator/cmd/taas-operator",
            "taas-trainer": "trainer/cmd/taas-trainer"}
# Each prints one line.
LIMIT_S = 60


class VersionsTest(unittest.TestCase):

    def setUp(self):
        with open(os.path.join(RUNFILES, "VERSION"), encoding="utf-8") as file:
            self.version = file.read().strip()

    def said(self, name, flag):
        done = subprocess.run([os.path.join(RUNFILES, PROGRAMS[name]), flag], env={}, check=True,
                              stdout=subprocess.PIPE, text=True, timeout=LIMIT_S)
        return done.stdout

    def test_each_program_says_its_name_and_the_version_of_the_tree(self):
        for name in PROGRAMS:
            with self.subTest(name):
                self.assertEqual(self.said(name, "--version"), f"{name} {self.version}\n")

    def test_the_default_image_is_of_it_too(self):
        self.assertIn(f"=taas/trainer:{self.version} ", self.said("taas-operator", "--help"))


if __name__ == "__main__":
    unittest.main()
