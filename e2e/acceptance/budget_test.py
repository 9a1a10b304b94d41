"""What the operator asks of the API server for one quiet life, and for jobs that are over.

C30 and C31 in small: bench/operator measures both in earnest, and here by the same programs, on a
control plane of its own whose audit log counts.
"""

import concurrent.futures
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
LIVES = 3


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
    shared = False
    # Where others compute, pods begin to run one after the other, each with something to note.
    last = True

    def test_a_quiet_life_takes_no_more_requests_than_promised(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            lives = pool.map(quietest, REQUESTS, REQUESTS.values())
            found = dict(zip(REQUESTS, lives))
        for contestant, life in found.items():
            with self.subTest(contestant):
                self.assertLessEqual(life["total"], REQUESTS[contestant], life["requests"])
                # A life that was not lived would ask for little.
                self.assertEqual(life["requests"]["create pods"], 10)


def quietest(contestant, promised):
    """The life that took least of as many as the measurement in earnest has, or the first that
    keeps the promise."""
    lives = []
    while len(lives) < LIVES and (not lives or lives[-1]["total"] > promised):
        lives.append(measured("life", (contestant,))[contestant])
    return min(lives, key=lambda life: life["total"])


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
