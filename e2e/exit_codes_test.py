#!/usr/bin/python3
"""Each program ends with the codes of the table in docs/cli.md, and says what was wrong."""

import os
import shutil
import subprocess
import tempfile
import unittest

RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], "taas")
PROGRAMS = {"taas": "cli/taas", "taas-operator": "operator/cmd/taas-operator",
            "taas-trainer": "trainer/cmd/taas-trainer"}
# Each looks at its command line and ends.
LIMIT_S = 60

OK, FAILED, USAGE, NOT_FOUND = 0, 1, 2, 3

# The command line, the exit code, and a part of what is said: on stdout where all is well.
CASES = [
    ("taas", OK, "Usage: taas"),
    ("taas --help", OK, "Exit codes: 0 ok"),
    ("taas help top", OK, "Usage: taas top"),
    ("taas top", OK, "Usage: taas top"),
    ("taas local", OK, "Usage: taas local"),
    ("taas data", OK, "usage: data fetch"),
    ("taas help data", OK, "usage: data fetch"),
    ("taas lits", USAGE, 'taas: there is no command lits; did you mean "list"?'),
    ("taas top nods", USAGE, 'taas top: there is no command nods; did you mean "node"?'),
    ("taas list --all-namespace", USAGE, "taas list: there is no option --all-namespace; "
                                        "did you mean --all-namespaces?"),
    ("taas get", USAGE, "taas get: JOB is required"),
    ("taas list -o jsn", USAGE, 'did you mean "json"?'),
    ("taas wait a --timeout soon", USAGE, "is no time like 90s"),
    ("taas validate bad.yaml", USAGE, "--filename is required: write --filename bad.yaml"),
    ("taas submit", USAGE, "--name, or -f with a manifest, is required"),
    ("taas submit --name a --model lenet --workers 1 --steps 9", USAGE,
     "taas submit: --train-images: there is no data"),
    ("taas export a --to b", USAGE, "taas export: --format is required"),
    ("taas eval a --timeout 0", USAGE, "is no time like 90s"),
    ("taas data fetch minst x", USAGE, 'did you mean "mnist"?'),
    ("taas data inspekt x", USAGE, 'did you mean "inspect"?'),
    ("taas validate -f bad.yaml", FAILED, ""),
    ("taas data inspect none", FAILED, "none"),
    ("taas validate -f none.yaml", NOT_FOUND, "none.yaml"),
    ("taas predict a --input none.txt", NOT_FOUND, "none.txt"),
    ("taas list --kubeconfig none", NOT_FOUND, "none"),
    ("taas open --dir none", NOT_FOUND, "starts one"),
    ("taas local status --dir none", NOT_FOUND, "there is no cluster"),
    ("taas-trainer --help", OK, "Usage: taas-trainer"),
    ("taas-trainer help", OK, "Usage: taas-trainer"),
    ("taas-trainer help eval", OK, "--checkpoint"),
    ("taas-trainer data --help", OK, "usage: data fetch"),
    ("taas-trainer", USAGE, "there is nothing to train: give --data_dir"),
    ("taas-trainer --larning_rate=1", USAGE, "did you mean --learning_rate?"),
    ("taas-trainer --train_steps=many", USAGE, "is not a whole number"),
    ("taas-trainer --train_steps", USAGE, "--train_steps needs a value"),
    ("taas-trainer --model=lent", USAGE, 'did you mean "lenet"?'),
    ("taas-trainer --model=mlp --train_steps=5", USAGE, "--data_dir: is required"),
    ("taas-trainer --worker_hosts=a:1", USAGE, "--job_name is missing"),
    ("taas-trainer prdict", USAGE, 'did you mean "predict"?'),
    ("taas-trainer generate --checkpoint x", USAGE, "taas-trainer generate: --prompt TEXT"),
    ("taas-trainer generate --prompt x", USAGE, "--checkpoint is required"),
    ('taas-trainer eval --config={"model":{"name":"softmax"}}', FAILED,
     "--checkpoint is missing"),
    ("taas-trainer eval --volume data", USAGE, '"data" is not NAME=DIR'),
    ("taas-trainer --volume data=x", USAGE, "--volume data=x"),
    ("taas-trainer --seed 1 data", USAGE, "data must be the first word"),
    ("taas-trainer inspect", USAGE, "taas-trainer inspect: PATH is required"),
    ("taas-trainer export --chekpoint x", USAGE, "did you mean --checkpoint?"),
    ("taas-trainer graph --format pdf", USAGE, "is none of text, event, dot"),
    ("taas-trainer devices --formt json", USAGE, "did you mean --format?"),
    ('taas-trainer --config={"model":{},"data":{}}', FAILED, "maxSteps: is required"),
    ("taas-trainer --config=none.json", FAILED, "none.json"),
    ("taas-trainer inspect none", FAILED, "none"),
    ("taas-operator --help", OK, "Usage: taas-operator"),
    ("taas-operator --metrics-adr x", USAGE, "did you mean --metrics-addr?"),
    ("taas-operator dashbord", USAGE, 'did you mean "dashboard"?'),
    ("taas-operator --kubeconfig none", FAILED, "none"),
]


class ExitCodesTest(unittest.TestCase):

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="codes-", dir=os.environ["TEST_TMPDIR"])
        self.addCleanup(shutil.rmtree, self.dir)
        # `taas data` runs the trainer that lies beside it.
        for name, path in PROGRAMS.items():
            shutil.copy(os.path.join(RUNFILES, path), os.path.join(self.dir, name))
        with open(os.path.join(self.dir, "bad.yaml"), "w", encoding="utf-8") as file:
            file.write("apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a}\n")

    def test_each_program_ends_with_the_code_of_the_table(self):
        for line, code, words in CASES:
            with self.subTest(line):
                name, *arguments = line.split(" ")
                done = subprocess.run([os.path.join(self.dir, name), *arguments], check=False,
                                      env={"HOME": self.dir}, cwd=self.dir, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, timeout=LIMIT_S)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(words, done.stdout if code == OK else done.stderr)


if __name__ == "__main__":
    unittest.main()
