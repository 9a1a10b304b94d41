#!/usr/bin/python3
"""The package of safetensors reads what the trainer writes, and the trainer what it writes."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
sys.path.insert(0, os.path.join(RUNFILES, "tools/ci"))
import imported  # pylint: disable=wrong-import-position

TRAINER = os.environ.get("TAAS_TRAINER_BINARY", os.path.join(RUNFILES, "trainer/cmd/taas-trainer"))
PYTHON = os.path.join(os.environ.get("TAAS_TORCH_BIN", "/TAAS_TORCH_BIN-is-not-set"), "python")

# Prints the metadata of the file argv[1], and of each tensor its type, shape and numbers.
READER = """
import json, sys
from safetensors import safe_open
with safe_open(sys.argv[1], framework="pt") as file:
    tensors = {name: file.get_tensor(name) for name in file.keys()}
    print(json.dumps({"metadata": file.metadata(), "tensors": {
        name: {"dtype": str(tensor.dtype), "shape": list(tensor.shape),
               "values": tensor.double().flatten().tolist()}
        for name, tensor in tensors.items()}}))
"""

# Writes to argv[1] a softmax regression that knows its classes, and tensors of other kinds.
WRITER = """
import sys
import torch
from safetensors.torch import save_file
weights = torch.eye(4)[:, :3] * 2
save_file({"softmax_linear/weights": weights.to(getattr(torch, sys.argv[2])),
           "softmax_linear/biases": torch.tensor([0.5, 0, -0.5]),
           "scalar": torch.tensor(7, dtype=torch.int64), "empty": torch.empty(0, 5),
           "halves": torch.tensor([[0.5, -1.5]], dtype=torch.float16),
           "bytes": torch.arange(5, dtype=torch.uint8), "truth": torch.tensor([True, False]),
           "doubles": torch.tensor([1e300], dtype=torch.float64)},
          sys.argv[1], metadata={"format": "pt", "global_step": "5"})
"""

STEPS = 20
CONFIG = {
    "model": {"name": "softmax"}, "strategy": {"type": "Local"}, "batchSize": 20,
    "maxSteps": STEPS, "logSteps": 1_000, "seed": 3,
    "data": {"format": "generated", "generated": {"examples": 100, "features": 4, "classes": 3}},
    "optimizer": {"name": "adam", "learningRate": 0.01}}


class SafetensorsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs it and sets TAAS_TORCH_BIN")
        cls.python = imported.Python(PYTHON, "safetensors.torch")
        cls.addClassCleanup(cls.python.close)

    def setUp(self):
        made = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(made.cleanup)
        self.file = os.path.join(made.name, "a.safetensors")
        self.checkpoints = os.path.join(made.name, "out")

    def run_program(self, words, stdin="", **env):
        done = subprocess.run(words, input=stdin, text=True, check=False, env=env or None,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def exported(self, *words):
        """The newest checkpoint as safetensors, as the package reads it."""
        self.run_program([TRAINER, "export", "--checkpoint", self.checkpoints, "--format",
                          "safetensors", "--to", self.file, *words])
        return json.loads(self.python.run(READER, self.file))

    def test_the_package_reads_what_we_write(self):
        config = {**CONFIG, "checkpoint": {"dir": self.checkpoints}}
        self.run_program([TRAINER, "--config", json.dumps(config)], TF_CONFIG=json.dumps(
            {"task": {"type": "worker", "index": 0}}))
        whole = self.exported()
        self.assertEqual(whole["metadata"]["global_step"], str(STEPS))
        self.assertIn("taas/optimizer", whole["metadata"])
        tensors = whole["tensors"]
        self.assertEqual(tensors["softmax_linear/weights"]["shape"], [4, 3])
        self.assertEqual(tensors["softmax_linear/weights/Adam"]["shape"], [4, 3])
        self.assertEqual(tensors["softmax_linear/biases"]["dtype"], "torch.float32")
        self.assertGreater(len(set(tensors["softmax_linear/weights"]["values"])), 6)

        rounded = self.exported("--bfloat16")["tensors"]
        self.assertEqual(rounded.keys(), tensors.keys())
        for name, tensor in rounded.items():
            if tensors[name]["dtype"] != "torch.float32":
                self.assertEqual(tensor, tensors[name])
                continue
            self.assertEqual(tensor["dtype"], "torch.bfloat16", name)
            for got, want in zip(tensor["values"], tensors[name]["values"], strict=True):
                self.assertLessEqual(abs(got - want), abs(want) / 256, name)

        # What one side reads of the file is what the other does: the model predicts the same.
        model = self.exported("--config", json.dumps(config))["tensors"]
        self.assertEqual(sorted(model), ["softmax_linear/biases", "softmax_linear/weights"])
        for name, tensor in model.items():
            self.assertEqual(tensor, tensors[name])

    def predicted(self, rows):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        said = self.run_program([TRAINER, "predict", "--checkpoint", self.file, "--config",
                                 json.dumps(CONFIG), "--input", "-"], lines)
        return [json.loads(line)["class"] for line in said.splitlines()]

    def test_we_read_what_the_package_writes(self):
        for dtype, name in (("float32", "F32"), ("bfloat16", "BF16"), ("float16", "F16")):
            with self.subTest(dtype):
                self.python.run(WRITER, self.file, dtype)
                report = json.loads(self.run_program(
                    [TRAINER, "inspect", "-o", "json", self.file]))
                tensors = {tensor["name"]: (tensor["dtype"], tensor["shape"])
                           for tensor in report["tensors"]}
                self.assertEqual(tensors, {
                    "softmax_linear/weights": (name, [4, 3]),
                    "softmax_linear/biases": ("F32", [3]), "scalar": ("I64", []),
                    "empty": ("F32", [0, 5]), "halves": ("F16", [1, 2]), "bytes": ("U8", [5]),
                    "truth": ("BOOL", [2]), "doubles": ("F64", [1])})
                rows = [[float(k == i) for k in range(4)] for i in range(4)]
                self.assertEqual(self.predicted(rows), [0, 1, 2, 0])


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
