#!/usr/bin/python3
"""Our models train as PyTorch's do: from our weights, on the same batches, to the same losses.

A row of CASES is one training.
"""

import array
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
STEPS = os.environ.get("TAAS_MODEL_STEPS", os.path.join(RUNFILES, "trainer/testing/model_steps"))
PYTHON = os.path.join(os.environ.get("TAAS_TORCH_BIN", "/TAAS_TORCH_BIN-is-not-set"), "python")
TWIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_twin.py")

UPDATES = 20
BATCHES = 4  # They come again and again, so that losses fall and wrong updates are seen.
TOLERANCE = 1e-4
# Both round the factors of products to 8 bits; PyTorch's results are rounded too, ours are not.
BFLOAT16_TOLERANCE = 0.01
FALL = 0.97  # The last losses of all batches are at most this of the first ones; or a row's "fall".

SGD = {"name": "sgd", "learningRate": 0.05}
MOMENTUM = {"name": "momentum", "learningRate": 0.02, "momentum": 0.9}
# PyTorch adds epsilon to a root that it has corrected, we before, as TensorFlow: it must be small.
ADAM = {"name": "adam", "learningRate": 0.001, "epsilon": 1e-12}
ADAMW = {"name": "adamw", "learningRate": 0.001, "epsilon": 1e-12, "weightDecay": 0.1}
# Many batch normalizations and large updates make a chaos, in which PyTorch's own float32 is
# farther from its float64 than the tolerance.
SLOW = {**SGD, "learningRate": 0.002}
DIGIT = [28, 28, 1]
GPT2 = {"name": "gpt2", "blocks": 2, "heads": 4, "width": 64}


def case(model, optimizer, batch, image, classes=10):
    return {"model": model, "optimizer": optimizer, "batch": batch, "image": image,
            "features": math.prod(image), "classes": classes, "steps": UPDATES}


CASES = {
    "mlp, sgd": case({"name": "mlp", "hidden": [50]}, SGD, 32, DIGIT),
    "mlp of two layers, momentum": case({"name": "mlp", "hidden": [40, 30]}, MOMENTUM, 32, DIGIT),
    "mlp, adam": case({"name": "mlp", "hidden": [50]}, ADAM, 32, DIGIT),
    "mlp, adamw": case({"name": "mlp", "hidden": [50]}, ADAMW, 32, DIGIT),
    "lenet": case({"name": "lenet"}, {**MOMENTUM, "learningRate": 0.005}, 16, DIGIT),
    "resnet20": case({"name": "resnet20"}, SLOW, 32, [32, 32, 3]),
    "lstm": case({"name": "lstm", "hidden": [64, 64]}, {**ADAM, "learningRate": 0.003}, 16, DIGIT),
    "gpt2": case(GPT2, ADAMW, 4, [32], 256),
}
CASES |= {f"{name}, bfloat16": {**CASES[name], "precision": "bfloat16"}
          for name in ("mlp, sgd", "lenet", "resnet20", "lstm", "gpt2")}
# Adam makes whole steps of gradients that are nothing but rounding.
CASES["lstm, bfloat16"] |= {"optimizer": {**MOMENTUM, "learningRate": 0.3}, "fall": 0.99}

# What is added to losses and taken from gradients, in a hundred steps of a small model beside one
# in float64. PyTorch adds 1e-6 to the norm that it clips by: the gradients are far larger.
HUNDRED = 100
EXACT = 1e-6
SMALL = {**case({"name": "mlp", "hidden": [6]}, SGD, 16, [5, 5, 1], 4), "steps": HUNDRED,
         "double": True}
EXACT_CASES = {
    "l1": {**SMALL, "regularization": {"l1": 0.01}},
    "l2": {**SMALL, "regularization": {"l2": 0.05}},
    "l1 and l2, momentum": {**SMALL, "optimizer": MOMENTUM,
                            "regularization": {"l1": 0.002, "l2": 0.01}},
    "clipped by value": {**SMALL, "clip": {"value": 0.02}},
    "clipped by norm": {**SMALL, "clip": {"globalNorm": 0.25}},
}

# Of the rows' models, by hand: weights and biases, scales and offsets.
PARAMETERS = {
    "mlp, sgd": 784 * 50 + 50 + 50 * 10 + 10,
    "lenet": 25 * 32 + 32 + 25 * 32 * 64 + 64 + 3136 * 512 + 512 + 512 * 10 + 10,
    "resnet20": 9 * (3 * 16 + 6 * 16 * 16 + 16 * 32 + 5 * 32 * 32 + 32 * 64 + 5 * 64 * 64) +
                16 * 32 + 32 * 64 + 2 * (7 * 16 + 7 * 32 + 7 * 64) + 64 * 10 + 10,
    "lstm": 4 * 64 * (28 + 64 + 1 + 64 + 64 + 1) + 64 * 10 + 10,
    "gpt2": 2 * (12 * 64 ** 2 + 13 * 64) + (256 + 32) * 64 + 2 * 64,
}


def write_batches(test, folder):
    """BATCHES different ones, repeated; what is looked for differs by class."""
    values = random.Random(3)
    text = test["model"]["name"] == "gpt2"
    features, labels = [], []
    for _ in range(BATCHES * test["batch"]):
        if text:
            line = [values.randrange(test["classes"]) for _ in range(test["features"] + 1)]
            features += line[:-1]
            labels += line[1:]
            continue
        label = values.randrange(test["classes"])
        labels.append(label)
        features += [values.random() + (0.5 if k % test["classes"] == label else 0)
                     for k in range(test["features"])]
    repeats = test["steps"] // BATCHES
    for name, kind, numbers in (("features", "i" if text else "f", features),
                                ("labels", "i", labels)):
        with open(f"{folder}/{name}", "wb") as file:
            (array.array(kind, numbers) * repeats).tofile(file)


def run(command, test):
    done = subprocess.run(command, input=json.dumps(test), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError(f"{command[-1]}: {done.stderr[-4000:]}")
    return json.loads(done.stdout)


class PyTorchTest(unittest.TestCase):

    def setUp(self):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs PyTorch and sets TAAS_TORCH_BIN")
        made = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(made.cleanup)
        self.folder = made.name

    def prepared(self, names):
        tests = {}
        for name in names:
            case_of_name = CASES.get(name) or EXACT_CASES[name]
            tests[name] = {**case_of_name, "folder": os.path.join(self.folder, name)}
            os.mkdir(tests[name]["folder"])
            write_batches(tests[name], tests[name]["folder"])
        return tests

    def by_pytorch(self, tests):
        return dict(zip(tests, run([PYTHON, TWIN], list(tests.values())), strict=True))

    def assert_falls(self, losses, fall=FALL):
        """Else wrong updates would not be seen."""
        self.assertLess(sum(losses[-BATCHES:]), fall * sum(losses[:BATCHES]))

    def test_each_loss_is_pytorchs(self):
        tests = self.prepared(CASES)
        ours = {name: run([STEPS], test) for name, test in tests.items()}
        for name, test in tests.items():
            test["variables"] = ours[name]["variables"]
        theirs = self.by_pytorch(tests)
        for name in tests:
            with self.subTest(name):
                pair = ours[name]["losses"], theirs[name]["losses"]
                tolerance = BFLOAT16_TOLERANCE if "precision" in CASES[name] else TOLERANCE
                self.assertEqual([len(losses) for losses in pair], [UPDATES] * 2)
                for step, (our, their) in enumerate(zip(*pair), 1):
                    self.assertAlmostEqual(our, their, delta=tolerance * their,
                                           msg=f"step {step}: {our}, PyTorch has {their}")
                self.assert_falls(pair[0], CASES[name].get("fall", FALL))

    def test_penalties_and_clipping_are_pytorchs_for_a_hundred_steps(self):
        tests = self.prepared(EXACT_CASES)
        ours = {name: run([STEPS], test) for name, test in tests.items()}
        for name, test in tests.items():
            test["variables"] = ours[name]["variables"]
        theirs = self.by_pytorch(tests)
        for name in tests:
            with self.subTest(name):
                pair = ours[name]["losses"], theirs[name]["losses"]
                self.assertEqual([len(losses) for losses in pair], [HUNDRED] * 2)
                for step, (our, their) in enumerate(zip(*pair), 1):
                    self.assertAlmostEqual(our, their, delta=EXACT * max(1, their),
                                           msg=f"step {step}: {our}, PyTorch has {their}")
                self.assertLess(theirs[name]["difference"], EXACT)
                self.assert_falls(pair[0])

    def test_modules_of_pytorch_are_what_they_should_be(self):
        tests = self.prepared(PARAMETERS)
        for test in tests.values():
            test["alone"] = True
        for name, result in self.by_pytorch(tests).items():
            with self.subTest(name):
                self.assertEqual(result["parameters"], PARAMETERS[name])
                self.assertLess(result["difference"], 1e-5)
                self.assert_falls(result["losses"])


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
