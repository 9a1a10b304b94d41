"""What the operator asks of the API server for one quiet life, and for jobs that are over.

C30 and C31 in small: bench/operator measures both in earnest, and here by the same programs, on a
control plane of its own whose audit log counts.
"""

import json
import os
import subprocess
import sys
import tempfile

import programs
from scenario import Scenario

BENCH = os.path.join(programs.TREE, "bench", "operator", "run.py")
# For one chief, one parameter server and eight workers, from creation to success.
REQUESTS = {"taas-trainingjob": 22, "taas-tfjob": 30}


def measured(row, contestants):
    """One sample of each contestant, in small."""
    with tempfile.TemporaryDirectory(prefix="taas-e2e-budget-") as folder:
        out = os.path.join(folder, "samples.json")
        done = subprocess.run(
            [sys.executable, BENCH, "--rows", row, "--runs", "1", "--small", "--only",
             ",".join(contestants), "--out", out],
            check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise AssertionError(done.stdout)
        with open(out, encoding="utf-8") as file:
            return {sample["contestant"]: sample for sample in json.load(file)}


class QuietLifeTest(Scenario):

    needs = ("components",)
    # Where others compute, pods begin to run one after the other, each with something to note.
    alone = True

    def test_a_quiet_life_takes_no_more_requests_than_promised(self):
        lives = measured("life", REQUESTS)
        self.assertEqual(lives.keys(), REQUESTS.keys())
        for name, life in lives.items():
            with self.subTest(name):
                self.assertLessEqual(life["total"], REQUESTS[name], life["requests"])
                # A life that was not lived would ask for little.
                self.assertEqual(life["requests"]["create pods"], 10)


class AtRestTest(Scenario):

    needs = ("components",)
    shared = False
    # It waits for minutes, and so begins among the first.
    lane = "rest"

    def test_jobs_that_are_over_are_asked_nothing_about(self):
        rests = measured("rest2k", ("taas-trainingjob", "taas-tfjob"))
        self.assertEqual(len(rests), 2)
        for name, rest in rests.items():
            with self.subTest(name):
                self.assertEqual(set(rest["requests"]), {0})
