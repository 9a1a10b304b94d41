"""Pods that end through no fault of their program, completed pods that are taken away, and
restarts that concern more than one pod."""

from acceptance import Acceptance
from job_kinds import KINDS, TRAINING_JOB, of_both_kinds, trainer_job

LONG_AGO_S = 60
# How a pod is taken away: a word for the job's name, and who does it.
WAYS = {
    "deleted": lambda test, pod: test.api.delete("pods", pod),
    "drained": lambda test, pod: test.api.evict(pod),
    "evicted": lambda test, pod: test.kubelet.evict(pod),
    "shut-down": lambda test, pod: test.kubelet.evict(
        pod, reason="Terminated",
        message="Pod was terminated in response to imminent node shutdown."),
    "turned-away": lambda test, pod: test.kubelet.turn_away(pod),
}
BAD_NODE = 3


class LostPodsTest(Acceptance):

    def test_a_pod_that_is_taken_away_gets_a_successor_and_is_nobodys_fault(self):
        # The strictest of all: any failure of a program would end these jobs.
        jobs = {kind.job(f"{kind.short}-{way}", {"ps": 1, "worker": 2}, "Never",
                         backoffLimit=0): way for kind, way in of_both_kinds(*WAYS)}
        self.start(*jobs)
        self.await_running(*jobs)
        before = self.uids(*(job.pod(role) for job in jobs for role in ("ps", "worker")))
        for job, way in jobs.items():
            for role in ("ps", "worker"):
                WAYS[way](self, job.pod(role))
        self.await_successors(before)
        self.await_status({job: {"state": "Running", "restarts": {"preempted": 2}}
                           for job in jobs})
        for job in jobs:
            self.kubelet.end(job.pod("worker"), 0, ago_s=LONG_AGO_S)
        self.await_status({job: {"state": "Succeeded"} for job in jobs})
        made = self.pods_made()
        for job in jobs:
            with self.subTest(job.name):
                self.assertEqual([made[pod] for pod in job.pods()], [2, 2, 1])

    def test_a_completed_replica_is_not_run_again_when_its_pod_is_gone(self):
        jobs = [kind.job(f"{kind.short}-done", {"chief": 1, "worker": 2}) for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        for job in jobs:
            self.kubelet.end(job.pod("worker", 1), 0)
        self.await_status({job: {"replicaStatuses": lambda roles, job=job: roles[
            job.kind.role_key("worker")].get("succeeded") == 1} for job in jobs})
        for job in jobs:
            self.api.delete("pods", job.pod("worker", 1))
        self.await_true("the completed pods to be gone", lambda: not any(
            self.api.get("pods", job.pod("worker", 1)) for job in jobs))
        # Whoever makes these has seen that.
        before = self.uids(*(job.pod("worker") for job in jobs))
        for pod in before:
            self.api.delete("pods", pod)
        self.await_successors(before)
        self.await_running(*jobs, completed=1)
        for job in jobs:
            self.kubelet.end(job.pod("chief"), 0, ago_s=LONG_AGO_S)
        self.await_status({job: {"state": "Succeeded", "restarts": {"preempted": 1}}
                           for job in jobs})
        made = self.pods_made()
        for job in jobs:
            self.assertEqual([made[pod] for pod in job.pods()], [1, 2, 1], job.name)

    def test_with_restart_scope_job_all_start_again_together_but_those_that_are_done(self):
        job = self.start(TRAINING_JOB.job(
            "together", {"chief": 1, "ps": 1, "worker": 3, "evaluator": 1}, "ExitCode",
            extra={"restartScope": "Job"}))
        self.await_running(job)
        self.kubelet.end(job.pod("worker", 2), 0)
        self.await_status({job: {"replicaStatuses": lambda roles:
                                 roles["worker"]["succeeded"] == 1}})
        again = [job.pod("chief"), job.pod("ps"), job.pod("worker", 0), job.pod("worker", 1)]
        before = self.uids(*job.pods())
        self.kubelet.end(job.pod("worker", 1), 143)
        self.await_successors({pod: before[pod] for pod in again})
        self.await_status({job: {"state": "Running", "attempt": 2, "restarts": {"killed": 1}}})
        after = self.uids(*job.pods())
        self.assertEqual({pod for pod in before if before[pod] != after[pod]}, set(again))
        self.assertEqual({self.variables(pod)["TAAS_ATTEMPT"] for pod in again}, {"2"})
        self.assertEqual(self.variables(job.pod("evaluator"))["TAAS_ATTEMPT"], "1")

    def test_a_node_that_the_trainer_calls_bad_is_kept_away_from(self):
        job = self.start(trainer_job("picky", {"chief": 1, "ps": 1, "worker": 1}))
        self.await_running(job)
        pod = self.api.get("pods", job.pod("worker"))
        node = pod["spec"]["nodeName"]
        self.kubelet.end(job.pod("worker"), BAD_NODE)
        self.await_successors({job.pod("worker"): pod["metadata"]["uid"]})
        self.await_status({job: {"state": "Running", "restarts": {"badNode": 1}}})
        spec = self.api.get("pods", job.pod("worker"))["spec"]
        # By its name, and no more than preferred: where nothing else fits it has to do.
        self.assertEqual(spec["affinity"]["nodeAffinity"], {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "preference": {"matchFields": [
                    {"key": "metadata.name", "operator": "NotIn", "values": [node]}]}}]})
        self.assertNotEqual(spec["nodeName"], node)
