"""Why a job does not run, or has failed, is told where users of Kubernetes look: in Events of the
job and in its conditions, not in a field of its own alone."""

import re

from acceptance import Acceptance, moment
from job_kinds import KINDS, of_both_kinds

NOWHERE = {"nodeSelector": {"acceptance.taas.dev/nobody": "has-it"}}
PULL = 'Back-off pulling image "example.org/own-image:1"'
NO_SETTINGS = 'configmap "settings" not found'
CRASHES = "back-off 10s restarting failed container"
# Of one cause, however often it changes.
EVENT_EVERY_S = 30
# How often a kubelet changes its mind about one and the same image.
FLIPS = 3


def pulls_in_vain(test, pod):
    """As a kubelet does: it tries, it waits, it tries."""
    for _ in range(FLIPS):
        test.kubelet.hold_up(pod, "ErrImagePull", "not found")
        test.kubelet.hold_up(pod, "ImagePullBackOff", PULL)


def crashes(test, pod):
    test.kubelet.end(pod, 1)
    test.kubelet.hold_up(pod, "CrashLoopBackOff", CRASHES)


# What happens to worker-1, by a word for the job's name, and what is told of it.
HELD_UP = {
    "image": (pulls_in_vain, r"^worker-1 .*ImagePull"),
    "settings": (lambda test, pod: test.kubelet.hold_up(
        pod, "CreateContainerConfigError", NO_SETTINGS), r"^worker-1 .*" + NO_SETTINGS),
    "crashes": (crashes, r"^worker-1 .*CrashLoopBackOff"),
}


class CausesTest(Acceptance):
    # Symptom: `kubectl describe` of a job that did not run had not a word about the cause.

    def warnings(self, job):
        """Of the job itself, not of its pods."""
        return [event for event in self.api.list("events").values()
                if event["type"] == "Warning" and event["involvedObject"]["name"] == job.name
                and event["involvedObject"]["kind"] == job.kind.name]

    def told(self, job, words):
        return [event for event in self.warnings(job) if re.search(words, event["message"])]

    def await_told(self, wanted):
        """Until each job has an Event with these words; there is one in EVENT_EVERY_S at most."""
        for job, words in wanted.items():
            self.await_true(f"a Warning of {job.name} with {words}",
                            lambda job=job, words=words: self.told(job, words))
        for job, words in wanted.items():
            with self.subTest(job.name):
                told = sorted(moment(event["metadata"]["creationTimestamp"])
                              for event in self.told(job, words))
                for before, after in zip(told, told[1:]):
                    # Times have whole seconds.
                    self.assertGreaterEqual((after - before).total_seconds(), EVENT_EVERY_S - 1)

    def test_what_holds_a_pod_up_is_an_event_of_the_job(self):
        jobs = {kind.job(f"{kind.short}-{word}", {"ps": 1, "worker": 2},
                         "OnFailure" if word == "crashes" else "Never"): case
                for kind, (word, case) in of_both_kinds(*HELD_UP.items())}
        self.start(*jobs)
        self.await_running(*jobs)
        for job, (happens, _) in jobs.items():
            happens(self, job.pod("worker", 1))
        self.await_told({job: words for job, (_, words) in jobs.items()})

    def test_that_no_node_has_room_is_an_event_of_the_job(self):
        jobs = [kind.job(f"{kind.short}-nowhere", {"worker": 2}, template=NOWHERE)
                for kind in KINDS]
        self.start(*jobs)
        self.await_told({job: r"worker-0 .*Unschedulable" for job in jobs})

    def test_that_a_quota_is_used_up_is_an_event_of_the_job(self):
        self.k("create", "quota", "ours", "--hard=count/configmaps=2,pods=0")
        self.await_true("the quota to count", lambda: "pods" in self.k(
            "get", "quota", "ours", "-o", "jsonpath={.status.hard}"))
        jobs = [kind.job(f"{kind.short}-quota", {"worker": 2}) for kind in KINDS]
        self.start(*jobs)
        self.await_told({job: "exceeded quota: ours" for job in jobs})

    def test_of_what_a_job_has_failed_stands_in_its_condition_and_in_an_event(self):
        jobs = [kind.job(f"{kind.short}-memory", {"ps": 1, "worker": 2}) for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        for job in jobs:
            self.kubelet.end(job.pod("worker", 1), 1, reason="OOMKilled")
        self.await_status({job: {"state": "Failed"} for job in jobs})
        for job in jobs:
            failed = next(condition for condition in self.status_of(job)["conditions"]
                          if condition["type"] == "Failed")
            with self.subTest(job.name):
                self.assertRegex(failed["message"], "worker-1.*OOMKilled")
        self.await_told({job: "worker-1.*OOMKilled" for job in jobs})
