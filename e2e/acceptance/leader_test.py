"""The leader is killed or frozen at its work: the next one does the rest, and nothing twice."""

import contextlib
import os
import signal

import taas
from acceptance import Acceptance, all_of
from job_kinds import KINDS
from waiting import LIMIT_S, until

# Of each job: to make them takes longer than to notice the first and kill the one that makes them.
WORKERS = 60
QUICKLY_S = 0.01
# The operator's own exit code (docs/operations.md).
LEASE_LOST = 75


class LeaderTest(Acceptance):

    # The operator's process is looked for on the node.
    needs = ("fake nodes", "node")
    alone = True

    def test_a_leader_that_is_killed_while_it_makes_pods_is_followed_without_duplicates(self):
        self.follow_one_that_gets(signal.SIGKILL)

    def test_a_leader_that_freezes_while_it_makes_pods_is_followed_and_ends_when_it_wakes(self):
        # Each has been started as often as it was ended until now.
        restarts = {name: self.container(name)["restartCount"]
                    for name in taas.operators(self.kubectl)}
        leader, pid = self.follow_one_that_gets(signal.SIGSTOP)
        made = self.pods_made()
        # Unless its node has ended it by now, which hears nothing of it either.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        until("the frozen one to be started again",
              lambda: self.container(leader)["restartCount"] > restarts[leader])
        last = self.container(leader)["lastState"]["terminated"]
        self.assertIn(last["exitCode"], (LEASE_LOST, 128 + signal.SIGKILL))
        until("it to be ready again", lambda: self.container(leader)["ready"])
        self.assertEqual(self.pods_made(), made)

    def follow_one_that_gets(self, number):
        """(the leader that got the signal, its process); the work is done by the next one."""
        jobs = [kind.job(f"{kind.short}-large", {"chief": 1, "worker": WORKERS}) for kind in KINDS]
        # None, for a moment, where a test before has replaced the operators.
        leader = until("a leader", lambda: taas.leader(self.kubectl))
        holder = taas.holder(self.kubectl)
        pid = self.process_of(leader)
        self.start(*jobs)
        until("the first pods", lambda: self.api.list("pods"), poll_s=QUICKLY_S)
        os.kill(pid, number)
        self.assertLess(len(self.api.list("pods")), sum(len(job.pods()) for job in jobs),
                        "all was done before the signal")
        # Its lease has to end first.
        self.await_status({job: {"state": "Running", "ready": all_of(job), "restarts": {}}
                           for job in jobs}, LIMIT_S)
        # Of the one that is killed the node starts another at once, which may be the next.
        self.assertNotEqual(taas.holder(self.kubectl), holder)
        made = self.pods_made()
        self.assertEqual(set(made), {pod for job in jobs for pod in job.pods()})
        self.assertEqual(set(made.values()), {1}, made)
        return leader, pid

    def container(self, pod):
        (status,) = self.kubectl.json("get", "pod", pod, "-n", taas.NAMESPACE)["status"][
            "containerStatuses"]
        return status

    def process_of(self, pod):
        for pid in self.cluster.sandbox.processes(HOSTNAME=pod):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"taas-operator" in file.read().split(b"\0")[0]:
                    return pid
        raise AssertionError(f"no process of {pod} on the node")
