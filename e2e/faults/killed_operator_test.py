"""An operator that is killed again and again: jobs become what they would have become anyhow."""

import os
import random

from fault_jobs import KINDS, ended, job_of, replicas_patch, suspend_patch
from fault_scenario import FaultScenario
from taas import LEDGER

# Of the moments at which it is killed: others in each run, and TAAS_SEED repeats one.
SEED = int(os.environ.get("TAAS_SEED") or random.SystemRandom().randrange(10**6))
# After the first thing that it did about a change, and after its start: up to so much later.
AMID_S = 0.05
BEGUN_S = 0.8
CONTAINER = {"tj": "trainer", "tfjob": "tensorflow"}


class KilledOperatorTest(FaultScenario):

    second_try = False

    def setUp(self):
        super().setUp()
        print("seed", SEED, flush=True)
        self.random = random.Random(SEED)
        # It works in all namespaces.
        self.operator.freeze()
        self.addCleanup(self.operator.thaw)
        self.killed = self.cluster.start_operator("killed", "--namespaces=" + self.namespace)
        self.addCleanup(self.killed.stop)

    def kill_while(self, change):
        """Once in the middle of what follows, and once when the next one is at it."""
        before = self.done()
        for kind in KINDS:
            change(kind)
        self.wait_for("the first thing that is done", lambda: self.done() != before)
        for limit_s in (AMID_S, BEGUN_S):
            self.pass_time(self.random.uniform(0, limit_s))
            self.killed.kill()
            self.killed.start()

    def done(self):
        """What tells of work on the jobs: their ledgers and their pods."""
        jobs = [self.get_job(kind, kind) or {"metadata": {}} for kind in KINDS]
        return self.uids(), [job["metadata"].get("annotations", {}).get(LEDGER) for job in jobs]

    def edit_all(self, patch_of, value):
        self.kill_while(lambda kind: self.edit(kind, kind, patch_of(kind, value)))

    def check(self, workers, numbers, restarts):
        """All run; the pods of each job have these numbers, as labels have them."""
        for kind in KINDS:
            # The status of before may still stand there, if nobody lived to write another.
            self.wait_for(f"the restarts of {kind}", lambda k=kind: self.await_running(
                k, k, workers).get("restarts", {}) == restarts)
        self.wait_for("the others to be gone", lambda: len(self.uids()) == len(KINDS) * workers)
        for kind in KINDS:
            found = [self.pod(f"{kind}-worker-{index}")["metadata"]["labels"]
                     ["taas.dev/pod-number"] for index in range(workers)]
            self.assertEqual(found, numbers)

    def test_killed_at_any_moment_it_makes_no_pod_twice_and_forgets_none(self):
        self.kill_while(lambda kind: self.submit(kind, job_of(kind, kind, 6)))
        self.check(6, ["1"] * 6, {})
        first = self.uids()
        self.edit_all(replicas_patch, 9)
        self.check(9, ["1"] * 9, {})
        self.edit_all(replicas_patch, 3)
        self.check(3, ["1"] * 3, {})
        self.assertLessEqual(self.uids().items(), first.items())
        self.kill_while(lambda kind: self.remove(kind + "-worker-1"))
        self.check(3, ["1", "2", "1"], {"preempted": 1})
        self.edit_all(suspend_patch, True)
        for kind in KINDS:
            self.wait_for("the suspension", lambda k=kind: self.status_of(k, k).get("state") ==
                          "Suspended")
        self.wait_for("no pods", lambda: not self.uids())
        self.edit_all(suspend_patch, False)
        for kind in KINDS:
            self.await_running(kind, kind, 3)
            self.assertEqual(self.status_of(kind, kind)["attempt"], 2)
        self.assertEqual(len(self.uids()), 3 * len(KINDS))
        self.kill_while(lambda kind: self.api.done(
            "PATCH", self.pod_path(kind + "-worker-0", "status"), ended(CONTAINER[kind], 0)))
        for kind in KINDS:
            status = self.await_end(kind, kind)
            self.assertEqual((status["state"], status["restarts"]),
                             ("Succeeded", {"preempted": 1}))
