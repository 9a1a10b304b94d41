"""What time alone does to a job: deadlines, time to live, a gang that gets no place."""

import re

from acceptance import Acceptance, moment, now, runs
from job_kinds import KINDS, TFJOB, TRAINING_JOB, pod_template

DEADLINE_S = 4
TIME_TO_LIVE_S = 4
# How late it may be where all cores are busy; never early. Without a timer of its own it would be
# minutes.
LATE_S = 15
# Long enough for what gets its place to run.
PENDING_S = 4
PENDING_FIELDS = {TRAINING_JOB: "pendingDeadlineSeconds",
                  TFJOB: "taas.dev/pending-deadline-seconds"}
ROLES = {"chief": 1, "worker": 2}
# Before a job that was released once begins its next attempt.
RELEASED_S = 10


def seconds(since, until):
    return (moment(until) - moment(since)).total_seconds()


class DeadlinesTest(Acceptance):

    def test_the_active_deadline_fires_on_time_though_nothing_else_happens(self):
        jobs = [kind.job(f"{kind.short}-limited", {"worker": 1}, activeDeadlineSeconds=DEADLINE_S)
                for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        self.await_status({job: {"state": "Failed"} for job in jobs})
        self.await_pods_left({job: [] for job in jobs})
        for job in jobs:
            status = self.status_of(job)
            took_s = seconds(status["startTime"], status["completionTime"])
            self.assertGreaterEqual(took_s, DEADLINE_S, job.name)
            self.assertLessEqual(took_s, DEADLINE_S + LATE_S, job.name)
        self.assertEqual([self.last_condition(job)["message"] for job in jobs][1:], [
            "Job tf-limited has failed because it was active longer than specified deadline"])

    def test_a_job_is_gone_with_all_of_its_own_when_its_time_to_live_is_over(self):
        jobs = {kind.job(f"{kind.short}-{end}", {"worker": 1}, cleanPodPolicy="None",
                         ttlSecondsAfterFinished=TIME_TO_LIVE_S): code
                for kind in KINDS for end, code in (("succeeded", 0), ("failed", 1))}
        self.start(*jobs)
        self.await_running(*jobs)
        for job, code in jobs.items():
            self.kubelet.end(job.pod("worker"), code)
        self.await_status({job: {"state": "Failed" if code else "Succeeded"}
                           for job, code in jobs.items()})
        ended = {job: self.status_of(job)["completionTime"] for job in jobs}
        gone = {}

        def all_gone():
            for kind in KINDS:
                stored = self.api.list(kind.resource)
                for job in jobs:
                    if job.kind is kind and job.name not in stored:
                        gone.setdefault(job, now())
            return len(gone) == len(jobs)

        self.await_true("the jobs to be gone", all_gone)
        for job, since in ended.items():
            lived_s = (gone[job] - moment(since)).total_seconds()
            self.assertGreaterEqual(lived_s, TIME_TO_LIVE_S, job.name)
            self.assertLessEqual(lived_s, TIME_TO_LIVE_S + LATE_S, job.name)
        self.await_true("the garbage collector", lambda: not self.api.list("pods")
                        and not self.api.list("services"))

    def test_a_gang_that_does_not_start_in_time_is_released_and_tried_again(self):
        here = "acceptance.taas.dev/" + self.namespace
        jobs = {kind: self.gang(kind, here) for kind in KINDS}
        self.start(*jobs.values())
        self.await_status({job: {"state": "Pending", "attempt": 2, "message": re.compile(
            r"^all replicas are released until \S+, because not all that the training needs ran "
            "within "
            + PENDING_FIELDS[kind] + r": worker-0 \(and 1 more\) cannot be scheduled: "
            r"Unschedulable: .*nodes are available")} for kind, job in jobs.items()})
        # All of it, also what had its place.
        self.await_true("the release", lambda: not self.api.list("pods"))
        self.assertEqual({change.object["metadata"]["name"] for change in self.changes_of_pods()
                          if runs(change.object)},
                         {job.pod("chief") for job in jobs.values()})
        self.give_a_node(here)
        self.await_running(*jobs.values())
        made = self.api.list("pods")
        first = {change.object["metadata"]["name"]: change.object["metadata"]
                 for change in reversed(self.changes_of_pods()) if change.kind == "ADDED"}
        for name, pod in made.items():
            self.assertTrue(runs(pod))
            self.assertGreaterEqual(
                seconds(first[name]["creationTimestamp"], pod["metadata"]["creationTimestamp"]),
                RELEASED_S)
        # Nobody has erred.
        self.await_status({job: {"restarts": {}, "message": lambda text: not text}
                           for job in jobs.values()})

    def gang(self, kind, label):
        """Its workers find room on nodes of this label only."""
        name = kind.short + "-gang"
        if kind is TRAINING_JOB:
            job = kind.job(name, ROLES, pendingDeadlineSeconds=PENDING_S)
        else:
            job = kind.job(name, ROLES)
            job.manifest["metadata"]["annotations"] = {PENDING_FIELDS[kind]: str(PENDING_S)}
        worker = job.manifest["spec"][kind.roles_field()][kind.role_key("worker")]
        worker["template"] = pod_template(kind.container, nodeSelector={label: "yes"})
        return job

    def give_a_node(self, label):
        node = next(name for name, item in self.api.list("nodes").items()
                    if item["metadata"]["labels"].get("type") == "kwok")
        self.api.patch("nodes", node, {"metadata": {"labels": {label: "yes"}}})
        self.addCleanup(self.api.patch, "nodes", node, {"metadata": {"labels": {label: None}}})
