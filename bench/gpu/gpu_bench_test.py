#!/usr/bin/python3
"""The program gpu_bench on the driver that stands for NVIDIA's: each command, with small rows."""

import json
import os
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
BENCH = os.path.join(RUNFILES, "bench/gpu/gpu_bench")
sys.path.insert(0, os.path.join(RUNFILES, "trainer/cuda/fake"))
import fake_machine  # pylint: disable=wrong-import-position
from fake_machine import H100  # pylint: disable=wrong-import-position

ILLEGAL_ADDRESS = 700


class GpuBenchTest(unittest.TestCase):

    def bench(self, *arguments, machine=H100):
        """Its exit code, what it wrote, and what it said."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        ended = fake_machine.run([BENCH, *arguments, "--out", f"{folder}/out", "--small"], machine)
        said = ended.stdout
        print(said)
        if not os.path.exists(f"{folder}/out"):
            return ended.returncode, None, said
        with open(f"{folder}/out", encoding="utf-8") as file:
            return ended.returncode, json.load(file), said

    def test_steps_are_those_of_the_processor(self):
        code, result, _ = self.bench("steps")
        rows = {row["name"]: row for row in result["rows"]}
        self.assertEqual([name for name, row in rows.items() if "missing" in row], [])
        for name, row in rows.items():
            with self.subTest(name):
                self.assertTrue(row["clean"], row)
                self.assertTrue(row["sameBits"])
                self.assertGreater(row["gradientsInStep"], 0)  # They were compared.
                # AdamW moves a variable by its rate, however small the gradient: where that is all
                # but zero, rounding to 8 bits decides in which direction.
                self.assertLess(row["variables"], 0.5 if name == "GPT-2 bf16" else 0.1)
        self.assertGreaterEqual(len(rows), 10)
        self.assertEqual((code, result["complete"]), (0, True))
        self.assertEqual(result["device"], "NVIDIA H100 80GB HBM3")

    def test_steps_that_fail_are_not_clean_and_lose_no_row(self):
        code, result, _ = self.bench("steps", machine=f"{H100}fail kernel 1500 {ILLEGAL_ADDRESS}\n")
        self.assertEqual((code, result["complete"]), (1, True))
        self.assertTrue(result["rows"][0].get("clean"), result["rows"][0])
        errors = [row for row in result["rows"] if "error" in row]
        self.assertIn(f"error {ILLEGAL_ADDRESS}", errors[0]["error"])

    def test_models_are_measured(self):
        code, result, _ = self.bench("models", "--seconds", "0.01")
        self.assertEqual((code, result["complete"]), (0, True))
        for row in result["rows"]:
            if "missing" in row:
                continue
            with self.subTest(row["name"]):
                self.assertEqual(len(row["rounds"]), 9)
                self.assertEqual(sorted(row["rounds"])[4], row["ms"])
                self.assertAlmostEqual(row["examplesPerSecond"], 1e3 * row["batch"] / row["ms"])
        self.assertEqual([row["name"] for row in result["rows"] if "missing" in row], [])

    def test_kernels_are_measured_beside_a_copy(self):
        code, result, _ = self.bench("kernels", "--seconds", "0.001", "--bytes", "16384")
        self.assertEqual((code, result["complete"]), (0, True))
        rows = {row["name"]: row for row in result["rows"]}
        self.assertEqual([row for row in rows.values() if "error" in row or "missing" in row], [])
        self.assertEqual(rows["copy"]["bytes"], 2 * 16384)
        self.assertEqual(rows["Add"]["bytes"], 3 * 16384)
        self.assertEqual(rows["ApplyAdam"]["bytes"], 7 * 16384)
        self.assertEqual(rows["DecodePixels"]["bytes"], 5 * 16384 // 4)
        for row in rows.values():
            self.assertAlmostEqual(row["gigabytesPerSecond"], row["bytes"] / row["ms"] / 1e6)
            self.assertAlmostEqual(
                row["shareOfCopy"],
                row["gigabytesPerSecond"] / rows["copy"]["gigabytesPerSecond"])

    def test_convolutions_are_measured_by_plans_and_by_patches(self):
        code, result, _ = self.bench("convolutions", "--seconds", "0.001")
        self.assertEqual((code, result["complete"]), (0, True))
        self.assertEqual([row for row in result["rows"] if "error" in row], [])
        self.assertGreaterEqual(len(result["rows"]), 7 * 3 * 2)
        for row in result["rows"]:
            with self.subTest(row):
                # The library that stands for cuDNN has a plan for each.
                self.assertAlmostEqual(row["timesAsFast"], row["patchesMs"] / row["plannedMs"])
        row = result["rows"][0]
        self.assertEqual((row["name"], row["part"], row["precision"]),
                         ("LeNet, 5 x 5 of 32", "Conv2D", "float32"))
        self.assertEqual(row["flop"], 2 * (2 * 8 * 8 * 4) * (5 * 5 * 4))
        _, result, _ = self.bench("convolutions", "--seconds", "0.001",
                                  machine=f"{H100}cudnn 90000\n")
        self.assertEqual([row for row in result["rows"] if "plannedMs" in row], [])
        self.assertGreater(result["rows"][0]["patchesMs"], 0)

    def test_attentions_are_measured_by_plans_and_by_products(self):
        code, result, _ = self.bench("attentions", "--seconds", "0.001")
        self.assertEqual((code, result["complete"]), (0, True))
        self.assertEqual([row for row in result["rows"] if "error" in row], [])
        self.assertEqual(len(result["rows"]), 3 * 2)
        for row in result["rows"]:
            with self.subTest(row):
                self.assertAlmostEqual(row["timesAsFast"], row["productsMs"] / row["plannedMs"])
        forward, backward = result["rows"][:2]
        self.assertEqual((forward["name"], forward["part"], forward["precision"]),
                         ("GPT-2, 8 x 1024", "Attention", "bfloat16"))
        self.assertEqual(backward["part"], "AttentionGrad")
        # Two examples of two heads of 8, six steps: a product is 2 · 4 · 36 · 8, and half of it.
        self.assertEqual((forward["flop"], backward["flop"]), (2 * 1152, 5 * 1152))
        # One that knows no attention.
        _, result, _ = self.bench("attentions", "--seconds", "0.001",
                                  machine=f"{H100}cudnn 92000\n")
        self.assertEqual([row for row in result["rows"] if "plannedMs" in row], [])
        self.assertGreater(result["rows"][0]["productsMs"], 0)

    def test_only_some_rows(self):
        _, result, _ = self.bench("steps", "--only", "LeNet")
        self.assertEqual([row["name"] for row in result["rows"]], ["LeNet"])

    def test_without_a_card_it_says_why(self):
        code, result, said = self.bench("steps", machine="")
        self.assertEqual((code, result), (1, None))
        self.assertIn("this process sees 0", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
