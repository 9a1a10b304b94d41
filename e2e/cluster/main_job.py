"""The main job with more steps, for something that happens while it trains.

    class MyTest(MainJobUnderFault):
        def test_…(self):
            self.start()
            …
            self.check_survived({"preempted": 1})
"""

import json

import yaml
from scenario import Scenario

# Long enough for a fault and what follows it: some 20 s for replicas with this share of a core,
# which leaves the machine to the tests beside them.
LONG_STEPS = 3000
SHARE = {"requests": {"cpu": "10m"}, "limits": {"cpu": "100m"}}
LONG_LIMIT_S = 1200
# More than a job will do before it is deleted.
ENDLESS_STEPS = 10**9
REPLICAS = ("chief-0", "ps-0", "ps-1", "worker-0", "worker-1")
# Guessing gives 0.1. `make demo` asks for more: where others compute, gradients come late.
ACCURACY = 0.9


class LongJob(Scenario):
    """The main job with more steps, for something that happens in the middle of training."""

    # Five processes that compute: beside another such job each takes several times as long.
    lane = "training"
    steps = LONG_STEPS

    def long_job(self):
        job = self.read("mnist")
        job["spec"]["trainer"]["maxSteps"] = self.steps
        for role in job["spec"]["roles"].values():
            role["resources"] = SHARE
        return job

    def read(self, name):
        with open(self.example(name), encoding="utf-8") as file:
            return yaml.safe_load(file)

    def submit(self, job):
        self.k("create", "-f", "-", stdin=json.dumps(job))


class MainJobUnderFault(LongJob):
    """A fault in the middle of training: the job goes on, says what happened, and succeeds."""

    def setUp(self):
        super().setUp()
        self.make_example_claims()

    def start(self):
        self.submit(self.long_job())
        self.await_training("mnist")

    def pod_uids(self):
        return {replica: self.pod_uid("mnist-" + replica) for replica in REPLICAS}

    def check_survived(self, restarts):
        status = self.await_success("mnist", limit_s=LONG_LIMIT_S)
        self.assertEqual(status.get("restarts", {}), restarts)
        self.assertEqual(status["progress"]["step"], self.steps)
        self.assertGreaterEqual(status["progress"]["evaluation"]["accuracy"], ACCURACY)
