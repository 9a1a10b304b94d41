"""An operator that is killed again and again: jobs become what they would have become anyhow."""

import json
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

    def setUp(self):
        super().setUp()
        print("seed", SEED, flush=True)
        self.random = random.Random(SEED)
        # It works in all namespaces.
        self.operator.freeze()
        self.addCleanup(self.operator.thaw)
        self.killed = self.cluster.start_operator("killed", "--namespaces=" + self.namespace)
        self.addCleanup(self.killed.stop)

    def kill_while(self, change, begun=None):
        """Once in the middle of what follows, and once when the next one is at it. `begun`: that
        the first thing is done."""
        before = self.done()
        for kind in KINDS:
            change(kind)
        self.wait_for("the first thing that is done", begun or (lambda: self.done() != before))
        for limit_s in (AMID_S, BEGUN_S):
            self.pass_time(self.random.uniform(0, limit_s))
            self.killed.kill()
            self.killed.start()

    def ledger(self, kind):
        job = self.get_job(kind, kind) or {"metadata": {}}
        return json.loads(job["metadata"].get("annotations", {}).get(LEDGER, "{}"))

    def done(self):
        """What tells of work on the jobs: their ledgers and their pods."""
        return self.uids(), [self.ledger(kind) for kind in KINDS]

    def edit_all(self, patch_of, value):
        self.kill_while(lambda kind: self.edit(kind, kind, patch_of(kind, value)))

    def check(self, workers):
        """All run, and none of them was ever counted as lost."""
        for kind in KINDS:
            self.await_running(kind, kind, workers)
            self.await_restarts(kind, 0)
        self.wait_for("the others to be gone", lambda: len(self.uids()) == len(KINDS) * workers)
        for kind in KINDS:
            self.assertEqual([self.number(kind, index) for index in range(workers)], [1] * workers)

    def number(self, kind, index):
        return int(self.pod(f"{kind}-worker-{index}")["metadata"]["labels"]["taas.dev/pod-number"])

    def await_restarts(self, kind, count):
        # The status of before may still stand there, if nobody lived to write another.
        wanted = {"preempted": count} if count else {}
        self.wait_for(f"the restarts of {kind} to be {wanted}",
                      lambda: self.status_of(kind, kind).get("restarts", {}) == wanted)

    def await_look(self):
        """Until the newest one has looked at both jobs: what it has not seen it cannot miss."""

        def has_looked():
            try:
                return sum(self.killed.values("taas_jobs").values()) == len(KINDS)
            except OSError:
                return False  # It is only just starting.

        self.wait_for("a look at each job", has_looked)

    def lose_one(self):
        """How often each job was restarted for a pod that goes: once, or not at all if whoever
        should have seen it was killed before. Then its pod is made again under its number."""
        self.await_look()
        before = self.uids()
        lost = {kind: kind + "-worker-1" for kind in KINDS}
        self.kill_while(lambda kind: self.remove(lost[kind]),
                        lambda: any(self.ledger(kind).get("restarts") for kind in KINDS))
        counts = {}
        for kind in KINDS:
            self.await_other_pod(lost[kind], before[lost[kind]])
            counts[kind] = self.number(kind, 1) - 1
            self.await_running(kind, kind, 3)
            self.await_restarts(kind, counts[kind])
            self.assertEqual([self.number(kind, index) for index in (0, 2)], [1, 1])
        self.assertIn(sorted(counts.values()), ([0, 1], [1, 1]))
        kept = {name: uid for name, uid in self.uids().items() if name not in lost.values()}
        self.assertLessEqual(kept.items(), before.items())
        return counts

    def lose_one_unseen(self):
        before = self.uids()
        lost = [kind + "-worker-2" for kind in KINDS]
        self.killed.kill()
        for name in lost:
            self.remove(name)
        self.killed.start()
        for kind, name in zip(KINDS, lost):
            self.await_other_pod(name, before[name])
            self.await_running(kind, kind, 3)
            self.assertEqual(self.number(kind, 2), 1)

    def test_killed_at_any_moment_it_makes_no_pod_twice_and_forgets_none(self):
        self.kill_while(lambda kind: self.submit(kind, job_of(kind, kind, 6)))
        self.check(6)
        first = self.uids()
        self.edit_all(replicas_patch, 9)
        self.check(9)
        self.edit_all(replicas_patch, 3)
        self.check(3)
        self.assertLessEqual(self.uids().items(), first.items())
        counts = self.lose_one()
        self.lose_one_unseen()
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
            self.assertEqual((status["state"], status.get("restarts", {}).get("preempted", 0)),
                             ("Succeeded", counts[kind]))
