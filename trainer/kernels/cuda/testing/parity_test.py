#!/usr/bin/python3
"""The program `parity` on the driver that stands for NVIDIA's: what is clean, and what is not."""

import json
import os
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
PARITY = os.path.join(RUNFILES, "trainer/kernels/cuda/testing/parity")
sys.path.insert(0, os.path.join(RUNFILES, "trainer/cuda/fake"))
import fake_machine  # pylint: disable=wrong-import-position
from fake_machine import H100  # pylint: disable=wrong-import-position

ILLEGAL_ADDRESS = 700


class ParityTest(unittest.TestCase):

    def parity(self, *arguments, machine=H100):
        """Its exit code, and what it wrote."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        ended = fake_machine.run([PARITY, "--out", f"{folder}/out", *arguments], machine)
        print(ended.stdout[-4_000:])
        with open(f"{folder}/out", encoding="utf-8") as file:
            return ended.returncode, json.load(file)

    def test_each_kernel_has_a_case_and_is_its_twin(self):
        code, result = self.parity()
        self.assertEqual(result["withoutCase"], [])
        self.assertEqual(result["failed"], [])
        self.assertTrue(result["clean"])
        self.assertEqual(code, 0)
        self.assertEqual((result["device"], result["driver"]), ("NVIDIA H100 80GB HBM3", "13.0"))
        kernels = {(kernel["op"], kernel["dtype"]): kernel for kernel in result["kernels"]}
        self.assertGreater(kernels["Sigmoid", "float32"]["difference"], 0)
        self.assertGreater(kernels["ReduceSum", "float32"]["cases"], 10)

    def test_a_kernel_that_fails_is_named_with_its_test(self):
        code, result = self.parity("--gtest_filter=DropoutTest.*:SumsTest.*",
                                   machine=f"{H100}fail kernel 3 {ILLEGAL_ADDRESS}\n")
        self.assertEqual(code, 1)
        self.assertFalse(result["clean"])
        self.assertEqual(result["failed"][0]["test"], "DropoutTest.IsItsTwin")
        self.assertIn(f"error {ILLEGAL_ADDRESS}", result["failed"][0]["says"])

    def test_a_card_that_is_lost_fails_each_test_and_ends_none(self):
        # The first kernel is that of the check at the start.
        code, result = self.parity(machine=f"{H100}fail kernel 2 {ILLEGAL_ADDRESS}\n")
        self.assertEqual((code, result["clean"]), (1, False))
        self.assertGreater(len(result["failed"]), 40)

    def test_without_a_card_it_says_why(self):
        code, result = self.parity(machine="")
        self.assertEqual(code, 1)
        self.assertIn("this process sees 0", result["error"])

    def test_no_case_is_not_clean(self):
        code, result = self.parity("--gtest_filter=Nobody.*")
        self.assertEqual((code, result["tests"], result["clean"]), (1, 0, False))


if __name__ == "__main__":
    unittest.main(verbosity=2)
