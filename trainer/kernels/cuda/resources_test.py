#!/usr/bin/python3
"""What kernels take of a GPU is what resources.txt says, and no kernel spills registers."""

import difflib
import os
import sys
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
from compile_kernels import spilling  # pylint: disable=wrong-import-position

REWRITE = "`make kernel-resources` writes trainer/kernels/cuda/resources.txt anew"


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


class ResourcesTest(unittest.TestCase):

    def test_the_table_says_what_was_compiled(self):
        difference = "".join(difflib.unified_diff(
            read("resources.txt").splitlines(True), read("resources.built.txt").splitlines(True),
            "resources.txt", "compiled now"))
        self.assertEqual(difference, "", f"\n{difference}{REWRITE}")

    def test_no_kernel_spills_registers(self):
        self.assertEqual(spilling(read("resources.built.txt")), [],
                         "these spill: fewer values at a time, or more registers for a thread "
                         "(__launch_bounds__)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
