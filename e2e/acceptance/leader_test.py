"""The operator is killed at its work: the next leader does the rest, and nothing twice."""

import os
import signal

import taas
from acceptance import Acceptance, all_of
from job_kinds import KINDS
from waiting import LIMIT_S, until

# Of each job: to make them takes longer than to notice the first and kill the one that makes them.
WORKERS = 60
QUICKLY_S = 0.01


class LeaderTest(Acceptance):

    # The operator's process is looked for on the node.
    needs = ("fake nodes", "node")
    alone = True

    def test_a_leader_that_is_killed_while_it_makes_pods_is_followed_without_duplicates(self):
        jobs = [kind.job(f"{kind.short}-large", {"chief": 1, "worker": WORKERS}) for kind in KINDS]
        # None, for a moment, where a test before has replaced the operators.
        leader = until("a leader", self.leader)
        pid = self.process_of(leader)
        self.start(*jobs)
        until("the first pods", lambda: self.api.list("pods"), poll_s=QUICKLY_S)
        os.kill(pid, signal.SIGKILL)
        self.assertLess(len(self.api.list("pods")), sum(len(job.pods()) for job in jobs),
                        "all was done before the kill")
        # The killed one's lease has to end first.
        self.await_status({job: {"state": "Running", "ready": all_of(job), "restarts": {}}
                           for job in jobs}, LIMIT_S)
        self.assertNotEqual(self.leader(), leader)
        made = self.pods_made()
        self.assertEqual(set(made), {pod for job in jobs for pod in job.pods()})
        self.assertEqual(set(made.values()), {1}, made)

    def leader(self):
        return taas.leader(self.kubectl)

    def process_of(self, pod):
        for pid in self.cluster.sandbox.processes(HOSTNAME=pod):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"taas-operator" in file.read().split(b"\0")[0]:
                    return pid
        raise AssertionError(f"no process of {pod} on the node")
