#!/usr/bin/python3
"""The trainer of docs/own-model.md trains its model, and the page shows what is built."""

import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
PROGRAM = os.path.join(RUNFILES, "examples/own_model/trainer")


def read(name):
    with open(os.path.join(RUNFILES, name), encoding="utf-8") as file:
        return file.read()


def page_blocks(kind):
    """(what the text before it names, the block) of each."""
    return re.findall(rf"`([^`\n]+)`[^`]*```(?:{kind})\n(.*?)```", read("docs/own-model.md"),
                      re.DOTALL)


def commands():
    """The configuration that the page trains with, and the lines after it, as words."""
    block, = re.findall(r"```sh\n(export TAAS_TRAINER=.*?)```", read("docs/own-model.md"),
                        re.DOTALL)
    config, lines = re.fullmatch(r"export TAAS_TRAINER='(.*?)'\n(.*)", block, re.DOTALL).groups()
    return json.loads(config), [shlex.split(line) for line in lines.splitlines()]


def run(config, *arguments, folder=None):
    return subprocess.run([PROGRAM, *arguments], env={"TAAS_TRAINER": json.dumps(config)},
                          cwd=folder, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120)


class OwnModelTest(unittest.TestCase):

    def test_the_commands_of_the_page_do_what_it_says(self):
        config, lines = commands()
        self.assertEqual([line[0] for line in lines], ["bin/highway-trainer"] * 4)
        with tempfile.TemporaryDirectory() as folder:
            said = []
            for _, *arguments in lines:
                done = run(config, *arguments, folder=folder)
                self.assertEqual(done.returncode, 0, done.stdout)
                said.append(done.stdout)
            self.assertTrue(os.path.exists(f"{folder}/highway/export/saved_model.pb"))
        trained, graph, evaluated, _ = said
        accuracy = re.search(r"accuracy = (\S+),", trained).group(1)
        self.assertGreaterEqual(float(accuracy), 0.95, trained)
        self.assertIn("part1/highway2/gate/MatMul", graph)
        self.assertIn("Fused(BiasAdd Sigmoid BiasAdd Tanh Sub Mul Add)", graph)
        self.assertRegex(evaluated, rf"step {config['maxSteps']}, accuracy {accuracy}")

    def test_it_is_one_of_the_models(self):
        config, _ = commands()
        for model, error in (({"name": "motorway"}, "known: gpt2, highway, layers"),
                             ({"name": "highway", "blocks": 2}, "highway does not take it")):
            done = run({**config, "model": model})
            self.assertEqual(done.returncode, 1)
            self.assertIn(error, done.stdout)

    def test_the_page_shows_what_is_built(self):
        shown = {name.rsplit("/", 1)[1]: block for name, block in page_blocks("cpp|python")}
        self.assertEqual(sorted(shown), ["BUILD", "highway.cc", "highway.h", "main.cc"])
        for name, block in shown.items():
            # A folder of one's own has no test of this page, and no comment on it.
            self.assertIn(block, read(f"examples/own_model/{name}"), name)
            if name.endswith(".cc"):
                self.assertEqual(block, read(f"examples/own_model/{name}"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
