#!/usr/bin/python3
"""The trainer of docs/own-model.md trains its model, and the page shows what is built."""

import json
import os
import re
import subprocess
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
CONFIG = {
    "model": {"name": "highway", "hidden": [32]},
    "data": {"format": "generated",
             "generated": {"examples": 2000, "testExamples": 500, "features": 16, "classes": 6}},
    "optimizer": {"name": "momentum", "learningRate": 0.02},
    "strategy": {"type": "Local"}, "batchSize": 50, "maxSteps": 300,
}


def read(name):
    with open(os.path.join(RUNFILES, name), encoding="utf-8") as file:
        return file.read()


def run(config, *arguments):
    return subprocess.run([os.path.join(RUNFILES, "examples/own_model/trainer"), *arguments],
                          env={"TAAS_TRAINER": json.dumps(config)}, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)


class OwnModelTest(unittest.TestCase):

    def test_it_learns(self):
        done = run(CONFIG)
        self.assertEqual(done.returncode, 0, done.stdout)
        accuracy = float(re.search(r"accuracy = (\S+),", done.stdout).group(1))
        self.assertGreaterEqual(accuracy, 0.95, done.stdout)

    def test_it_is_one_of_the_models(self):
        for model, error in (({"name": "motorway"}, "known: gpt2, highway, layers"),
                             ({"name": "highway", "blocks": 2}, "highway does not take it")):
            done = run({**CONFIG, "model": model})
            self.assertEqual(done.returncode, 1)
            self.assertIn(error, done.stdout)

    def test_its_graph_is_shown(self):
        text = run(CONFIG, "graph").stdout
        self.assertIn("part1/highway2/gate/MatMul", text)
        self.assertIn("Fused(BiasAdd Sigmoid BiasAdd Tanh Sub Mul Add)", text)

    def test_the_page_shows_what_is_built(self):
        page = read("docs/own-model.md")
        blocks = re.findall(r"`(examples/own_model/[^`]+)`[^`]*```(?:cpp|python)\n(.*?)```", page,
                            re.DOTALL)
        self.assertEqual([name.rsplit("/", 1)[1] for name, _ in blocks],
                         ["highway.cc", "main.cc", "BUILD"])
        for name, block in blocks:
            self.assertIn(block, read(name), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
