#!/usr/bin/python3
"""The peers train our measured models, on a processor, with few examples: real PyTorch."""

import json
import os
import subprocess
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
BENCH = os.path.join(RUNFILES, "bench/gpu/gpu_bench")
PEERS = os.path.join(RUNFILES, "bench/gpu/peers.py")
PYTHON = os.path.join(os.environ.get("TAAS_TORCH_BIN", "/TAAS_TORCH_BIN-is-not-set"), "python")
GPT2 = 124_439_808
# Of one block, and of a position.
GPT2_BLOCK, GPT2_WIDTH = 12 * 768 ** 2 + 13 * 768, 768


def dense(widths):
    return sum((a + 1) * b for a, b in zip(widths, widths[1:]))


def reduced(row):
    """The same model for few examples, and what of it takes long made smaller."""
    row = {**row, "batch": 2}
    if row["model"]["name"] == "gpt2":
        fewer = 11 * GPT2_BLOCK + (1_024 - 16) * GPT2_WIDTH
        row |= {"features": 16, "model": {"name": "gpt2", "blocks": 1},
                "parameters": row["parameters"] - fewer}
    if row["columns"]:
        row |= {"columns": [min(count, 16) for count in row["columns"]],
                "model": {**row["model"], "hidden": [8]},
                "parameters": 26 * 16 * (2 + 2) + dense([13 + 26 * 2, 8, 2])}
    return row


class PeersTest(unittest.TestCase):

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        subprocess.run([BENCH, "rows", "--out", f"{self.folder}/rows"], check=True, timeout=60)
        with open(f"{self.folder}/rows", encoding="utf-8") as file:
            self.rows = json.load(file)["rows"]

    def measure(self, rows):
        with open(f"{self.folder}/few", "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file)
        ended = subprocess.run(
            [PYTHON, PEERS, "--rows", f"{self.folder}/few", "--way", "eager", "--device", "cpu",
             "--seconds", "0", "--rounds", "1", "--out", f"{self.folder}/out",
             *(f"--row={row['name']}" for row in rows)], check=False, timeout=250,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ended.returncode, 0, ended.stdout.decode()[-3_000:])
        with open(f"{self.folder}/out", encoding="utf-8") as file:
            return json.load(file)

    def test_each_model_has_our_parameters_and_trains(self):
        result = self.measure([reduced(row) for row in self.rows])
        self.assertIn("2.", result["torch"])
        for row, measured in zip(self.rows, result["rows"], strict=True):
            with self.subTest(row["name"]):
                self.assertEqual(measured["name"], row["name"])
                self.assertEqual(measured["parameters"], reduced(row)["parameters"])
                self.assertEqual(len(measured["rounds"]), 1)
                self.assertGreater(measured["loss"], 0)

    def test_what_was_reduced_is_counted_right(self):
        counts = {row["model"]["name"]: row["parameters"] for row in self.rows}
        self.assertEqual(counts["gpt2"], GPT2)
        # Two wide weights of each category, and as many deep ones as the fourth root.
        wide = next(row for row in self.rows if row["columns"])
        self.assertEqual(wide["columns"].count(100_000), 26)
        self.assertEqual(counts["wideDeep"], 26 * 100_000 * (2 + 18) +
                         dense([13 + 26 * 18, *wide["model"]["hidden"], 2]))

    def test_another_model_is_refused(self):
        row = next(row for row in self.rows if row["name"] == "LeNet")
        with self.assertRaisesRegex(AssertionError, "LeNet has 1,663,370 parameters, ours 7"):
            self.measure([{**row, "parameters": 7}])


if __name__ == "__main__":
    unittest.main(verbosity=2)
