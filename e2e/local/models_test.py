#!/usr/bin/python3
"""Each manifest of a model, and each for GPUs, does what its first lines say, and learns.

Their commands run as they stand but for `--generate`, since a test asks no network.
"""

import glob
import json
import os
import re
import shlex
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["TEST_SRCDIR"], "taas", "tools/ci"))

# The folder of it must be known first.
import shards
from cluster import RUNFILES, Cluster

load_tests = shards.load_tests

# Accuracy on the test set, of what each data set is where it is made.
WANTED = {
    "gpus/all-reduce": 0.93,
    "models/csv": 0.58,  # Of age, income and hour alone; two of five clicks are chance.
    "models/gpt2": 0.75,  # Of the next letter.
    "models/layers": 0.95,
    "models/lenet": 0.97,
    "models/lstm": 0.95,
    "models/resnet20": 0.95,
    "models/softmax": 0.83,
    "models/tfrecord": 0.93,
    "models/wide-deep": 0.69,
}
FOLDERS = ("gpus", "models")


def commands(path):
    """Those of the comment that the file begins with, a list of words each."""
    with open(path, encoding="utf-8") as file:
        head = re.match(r"(#.*\n)+", file.read())[0]
    text = re.sub(r"^# ?", "", head, flags=re.MULTILINE).replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines()
            if re.match("  (mkdir|taas|taas-trainer) ", line)]


class ModelsTest(unittest.TestCase):
    """One test for each manifest, made below."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        # `./mnist-data` and the manifest itself are below it.
        cls.folder = os.path.join(cls.cluster.dir, "here")
        os.makedirs(os.path.join(cls.folder, "examples"))
        for name in FOLDERS:
            os.symlink(os.path.join(RUNFILES, "examples", name),
                       os.path.join(cls.folder, "examples", name))

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def run_words(self, words):
        if words[1:3] == ["data", "fetch"]:
            words = [*words, "--generate"]
        elif words[1:3] == ["local", "ci"]:
            words = [*words, "-o", "json"]
        program = "mkdir" if words[0] == "mkdir" else os.path.join(self.cluster.bin, words[0])
        done = self.cluster.run(program, *words[1:], check=False, folder=self.folder)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def learns(self, name):
        printed = [self.run_words(words) for words in
                   commands(os.path.join(self.folder, f"examples/{name}.yaml"))]
        (result,) = [json.loads(text) for text in printed if text.startswith("{")]
        self.assertEqual(result["state"], "Succeeded", result)
        self.assertGreaterEqual(result["accuracy"], WANTED[name], result)
        self.assertEqual(self.cluster.processes(), [])

    def test_each_manifest_has_what_it_must_reach(self):
        examples = os.path.join(RUNFILES, "examples")
        found = [path for name in FOLDERS for path in glob.glob(f"{examples}/{name}/*.yaml")]
        self.assertEqual(sorted(WANTED),
                         sorted(os.path.relpath(path, examples)[:-len(".yaml")] for path in found))


def make_test(name):
    return lambda self: self.learns(name)


for _name in WANTED:
    setattr(ModelsTest, "test_" + re.sub(r"\W", "_", _name), make_test(_name))

if __name__ == "__main__":
    unittest.main(verbosity=2)
