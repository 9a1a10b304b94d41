"""A user changes what is a job's own while it runs: pods' labels and owners, services, the ledger.

Each change is made to a job of its own. Whatever it is, nothing is written without end, no object
that is not the job's any more is touched, and the job goes on or says what is in its way.
"""

import collections
import dataclasses
import json
import time

import audit
import taas
from direct_api import core
from fault_jobs import KINDS, ended, foreign_pod, foreign_service, job_of, owner
from fault_scenario import ForeignScenario

CONTAINER = {"tj": "trainer", "tfjob": "tensorflow"}
PREFIX = "taas.dev/"
JOB, ROLE, INDEX, NUMBER = (PREFIX + name for name in (
    "job-name", "role", "index", "pod-number"))
# The operator looks at a job again so long after its last write, and then no more by itself.
LAST_LOOK_S = 10
# So long it is watched, and so often may it write one object then: what cannot be made is tried
# again after 5 s and later ever less often, and told anew.
WATCHED_S = 15
WRITES_MAX = 6
WORKERS = 2


@dataclasses.dataclass
class Relabelled:
    """A change of the labels of worker 0's pod, or of a service."""

    name: str  # Ends the job's.
    label: str
    value: str | None  # None: it is taken away.

    @property
    def change(self):
        return {"metadata": {"labels": {self.label: self.value}}}


# By its name and its owner a pod is known, not by these.
OF_NO_CONSEQUENCE = [
    Relabelled("no-role", ROLE, None),
    Relabelled("other-role", ROLE, "ps"),
    Relabelled("wrong-role", ROLE, "boss"),
    Relabelled("no-index", INDEX, None),
    Relabelled("other-index", INDEX, "1"),
    Relabelled("far-index", INDEX, "7000"),
    Relabelled("no-attempt", PREFIX + "attempt", None),
    Relabelled("other-attempt", PREFIX + "attempt", "9"),
]
HIGHER_NUMBER = Relabelled("higher", NUMBER, "5")
# The numbers of pods count from 1; the last is the largest that is believed.
NUMBERS = [
    HIGHER_NUMBER,
    Relabelled("none", NUMBER, None),
    Relabelled("zero", NUMBER, "0"),
    Relabelled("text", NUMBER, "first"),
    Relabelled("beyond", NUMBER, "100000001"),
    Relabelled("largest", NUMBER, "100000000"),
]
# Without it an object is not seen among the job's, and with another's name it is seen there.
OF_NO_JOB = [
    Relabelled("no-job", JOB, None),
    Relabelled("other-job", JOB, "nobody"),
]
# From the owner's reference in a pod or a service, and another's, to those that it gets.
OWNERS = {
    "no-owner": lambda own, other: [],
    "no-controller": lambda own, other: [{**own, "controller": False}],
    "other-owner": lambda own, other: [other],
}
# Ledgers that can be read and are not true; of the job's two workers the first is at work.
LEDGERS = {
    "empty": {},
    "no-replicas": {"attempt": 1},
    "lower": {"attempt": 1, "replicas": {"worker": {"0": {"pod": 0}, "1": {"pod": 0}}}},
    "higher": {"attempt": 1, "replicas": {"worker": {"0": {"pod": 50}}}},
    "largest": {"attempt": 1, "replicas": {"worker": {"0": {"pod": 100000000}}}},
    "beyond": {"attempt": 1, "replicas": {"worker": {"0": {"pod": 200000000}}}},
    "attempt": {"attempt": 7},
    "retired": {"attempt": 1, "replicas": {"ps": {"3": {"pod": 1}}, "worker": {"9": {"pod": 4}}}},
    "suspended": {"attempt": 1, "suspended": True},
    "delayed": {"attempt": 1, "replicas": {"worker": {"0": {
        "pod": 1, "notBefore": "9999-12-31T23:59:59Z"}}}},
    "restarts": {"attempt": 1, "restarts": {"userError": 300000000, "killed": 300000000}},
}


class TamperedScenario(ForeignScenario):

    def setUp(self):
        super().setUp()
        self.others = self.make(foreign_pod("bystander"), foreign_service("bystander"))

    def start(self, names):
        """Names of jobs and their kinds, once all of these run."""
        found = {f"{kind}-{name}": kind for kind in KINDS for name in names}
        for name, kind in found.items():
            self.submit(kind, job_of(kind, name, WORKERS))
        for name, kind in found.items():
            self.await_running(kind, name, WORKERS)
        return found

    def change_pod(self, name, change):
        # What kwok's nodes do at the end of one pod they may do to the next one of its name.
        self.take_from_kwok(name)
        self.api.done("PATCH", self.pod_path(name), change)

    def number_of(self, name):
        return self.pod(name)["metadata"]["labels"][NUMBER]

    def is_going(self, name):
        pod = self.pod(name)
        return pod is not None and "deletionTimestamp" in pod["metadata"]

    def writes(self, since):
        return [request for request in audit.requests(self.plane.audit_log, taas.USER, since)
                if request.namespace == self.namespace
                and request.verb not in ("get", "list", "watch")]

    def check_calm(self, names):
        """For a while hardly anything is written; only the jobs' pods and the others are there."""
        since = time.time()
        self.pass_time(WATCHED_S)
        # An event is named after its job; of what is refused no name is recorded.
        count = collections.Counter((request.verb, request.resource, request.name.partition(".")[0])
                                    for request in self.writes(since))
        often = {what: times for what, times in count.items()
                 if times > WRITES_MAX * (1 if what[-1] else len(names))}
        self.assertEqual(often, {}, f"writes in {WATCHED_S} s")
        pods = {f"{name}-worker-{index}" for name in names for index in range(WORKERS)}
        self.assertEqual(set(self.uids()) - pods, {"bystander"})
        self.check_untouched(self.others)

    def check_ends_well(self, jobs):
        """Each runs in two pods, of which one ends: the job has what it was for."""
        for name, kind in jobs.items():
            self.await_running(kind, name, WORKERS)
            self.take_from_kwok(name + "-worker-0")
            self.api.done("PATCH", self.pod_path(name + "-worker-0", "status"),
                          ended(CONTAINER[kind], 0))
        for name, kind in jobs.items():
            self.wait_for(f"the end of {name}", lambda: self.status_of(kind, name).get(
                "state") == "Succeeded")
            self.assertEqual(self.message_of(kind, name), "")
        self.check_untouched(self.others)

    def check_left_alone_until_gone(self, jobs, uids):
        """All pods stay those of `uids`; where a user deletes worker 0's another one comes."""
        self.check_calm(jobs)
        self.assertEqual(self.uids(), uids)
        before = self.replace(jobs)
        for name in jobs:
            self.await_other_pod(name + "-worker-0", before[name])
        self.check_ends_well(jobs)

    def await_all_told(self, jobs, *words):
        """Until the message of each names what is in its way: its pod or its service."""

        def silent():
            return [name for name, kind in jobs.items() if not all(
                word in self.message_of(kind, name) for word in (name, *words))]

        try:
            self.wait_for("all messages", lambda: not silent())
        except AssertionError as error:
            raise AssertionError(f"nothing is said of {silent()}: {error}") from None

    def service_path(self, name, kind):
        """Of a TFJob worker 0 has one of its own."""
        return core(self.namespace, "services", name if kind == "tj" else name + "-worker-0")

    def replace(self, names):
        """Deletes worker 0's pod of each, as a user would; the uids before."""
        before = {name: self.uid(name + "-worker-0") for name in names}
        for name in names:
            self.remove(name + "-worker-0")
        return before


class LabelsTest(TamperedScenario):

    def test_labels_of_no_consequence_have_none(self):
        jobs = self.start([each.name for each in OF_NO_CONSEQUENCE])
        uids = self.uids()
        for each in OF_NO_CONSEQUENCE:
            for kind in KINDS:
                self.change_pod(f"{kind}-{each.name}-worker-0", each.change)
        self.check_calm(jobs)
        self.assertEqual(self.uids(), uids)
        # It learns that they go and that they are gone in one moment.
        self.operator.freeze()
        self.addCleanup(self.operator.thaw)
        before = self.replace(jobs)
        self.operator.thaw()
        for name in jobs:
            self.await_other_pod(name + "-worker-0", before[name])
        self.await_rest()
        for name, kind in jobs.items():
            with self.subTest(name):
                self.assertEqual(self.status_of(kind, name).get("restarts"), {"preempted": 1})
                self.assertEqual(self.number_of(name + "-worker-0"), "2")
        self.check_ends_well(jobs)

    def test_numbers_that_are_not_true_cost_a_pod_at_most_and_are_counted_on(self):
        jobs = self.start([each.name for each in NUMBERS])
        uids = self.uids()
        for each in NUMBERS:
            for kind in KINDS:
                self.change_pod(f"{kind}-{each.name}-worker-0", each.change)
        self.await_rest()
        higher = [f"{kind}-{HIGHER_NUMBER.name}-worker-0" for kind in KINDS]
        for pod in higher:
            self.assertEqual(self.uid(pod), uids[pod])
        self.wait_for("all to run", lambda: self.run_after_deletions(jobs))
        before = self.replace(jobs)
        self.check_calm(jobs)
        for name in jobs:
            self.await_other_pod(name + "-worker-0", before[name])
        for pod in higher:
            self.assertEqual(self.number_of(pod), "6")
        self.check_ends_well(jobs)

    def run_after_deletions(self, jobs):
        """Of pods that kwok was told to leave alone: deletions are confirmed, as by a kubelet."""
        for name in jobs:
            if self.is_going(name + "-worker-0"):
                self.api("DELETE", self.pod_path(name + "-worker-0") + "?gracePeriodSeconds=0")
        return all(self.status_of(kind, name).get("ready") == f"{WORKERS}/{WORKERS}"
                   for name, kind in jobs.items())

    def test_a_pod_that_is_not_the_jobs_by_its_label_is_told_of_until_it_is_gone(self):
        jobs = self.start([each.name for each in OF_NO_JOB])
        self.pass_time(LAST_LOOK_S + 2)
        uids = self.uids()
        for each in OF_NO_JOB:
            for kind in KINDS:
                self.change_pod(f"{kind}-{each.name}-worker-0", each.change)
        self.await_all_told(jobs, "-worker-0")
        # Only TFJobs are taken over.
        self.assertEqual([name for name, kind in jobs.items() if kind == "tj" and
                          "--adopt" in self.message_of(kind, name)], [])
        self.check_left_alone_until_gone(jobs, uids)


class OwnersTest(TamperedScenario):

    def setUp(self):
        super().setUp()
        # The collector takes what an owner that does not exist has.
        (uid,) = self.make({"kind": "ConfigMap", "metadata": {"name": "other"}}).values()
        self.other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": uid,
                      "controller": True}

    def owners(self, name, kind):
        """By the job's name: the references that its pod or service gets."""
        uid = self.get_job(kind, name)["metadata"]["uid"]
        change = OWNERS[name.partition("-")[2]]
        return {"metadata": {"ownerReferences": change(owner(kind, name, uid), self.other)}}

    def test_a_pod_that_is_not_the_jobs_any_more_is_told_of_and_never_touched(self):
        jobs = self.start(OWNERS)
        uids = self.uids()
        for name, kind in jobs.items():
            self.change_pod(name + "-worker-0", self.owners(name, kind))
        self.await_all_told(jobs, "-worker-0 does not belong to this job (owner: ",
                            "delete it or rename the job")
        for name, kind in jobs.items():
            whose = f"uid {self.other['uid']}" if "other" in name else "owner: none"
            self.assertIn(whose, self.message_of(kind, name))
        self.check_left_alone_until_gone(jobs, uids)

    def test_a_pod_whose_owner_does_not_exist_is_collected_and_made_again(self):
        jobs = self.start(["collected"])
        before = {}
        for name, kind in jobs.items():
            nobody = owner(kind, name, "00000000-0000-0000-0000-000000000000")
            before[name] = self.uid(name + "-worker-0")
            self.change_pod(name + "-worker-0", {"metadata": {"ownerReferences": [nobody]}})
        for name in jobs:
            self.wait_for("the collector", lambda: self.is_going(name + "-worker-0"))
            self.api("DELETE", self.pod_path(name + "-worker-0") + "?gracePeriodSeconds=0")
            self.await_other_pod(name + "-worker-0", before[name])
        self.check_calm(jobs)
        self.check_ends_well(jobs)

    def test_a_service_that_is_not_the_jobs_any_more_is_told_of_and_never_touched(self):
        jobs = self.start(OWNERS)
        uids, services = self.uids(), {}
        for name, kind in jobs.items():
            path = self.service_path(name, kind)
            services[path] = self.api.done("PATCH", path, self.owners(name, kind))[
                "metadata"]["uid"]
        self.await_all_told(jobs, "the service ", "does not belong to this job",
                            "delete it or rename the job")
        self.check_calm(jobs)
        self.assertEqual(self.uids(), uids)
        self.check_untouched(services)
        for path in services:
            self.api.done("DELETE", path)
        for path, uid in services.items():
            self.wait_for("another service", lambda: (self.api.get(path) or {"metadata": {
                "uid": uid}})["metadata"]["uid"] != uid)
        self.assertEqual(self.uids(), uids)
        self.check_ends_well(jobs)


class ServicesTest(TamperedScenario):

    def test_a_service_that_lost_the_jobs_label_is_the_jobs_all_the_same(self):
        jobs = self.start([each.name for each in OF_NO_JOB])
        uids, services = self.uids(), {}
        for each in OF_NO_JOB:
            for kind in KINDS:
                path = self.service_path(f"{kind}-{each.name}", kind)
                services[path] = self.api.done("PATCH", path, each.change)["metadata"]["uid"]
        self.check_calm(jobs)
        self.assertEqual(self.uids(), uids)
        before = self.replace(jobs)
        for name, kind in jobs.items():
            self.await_other_pod(name + "-worker-0", before[name])
            self.wait_for(f"nothing to be in the way of {name}", lambda: self.message_of(
                kind, name) == "")
        self.check_untouched(services)
        self.check_ends_well(jobs)


class LedgersTest(TamperedScenario):

    def write_ledger(self, name, kind, ledger):
        text = None if ledger is None else json.dumps(ledger)
        self.edit(kind, name, {"metadata": {"annotations": {taas.LEDGER: text}}})

    def test_one_that_can_be_read_and_is_not_true_ends_neither_the_job_nor_the_operator(self):
        jobs = self.start(LEDGERS)
        for name, kind in jobs.items():
            self.write_ledger(name, kind, LEDGERS[name.partition("-")[2]])
        self.check_calm(jobs)
        self.check_ends_well(jobs)

    def test_one_that_keeps_the_pods_back_for_ages_is_told_of(self):
        jobs = self.start(["released"])
        for name, kind in jobs.items():
            self.write_ledger(name, kind, {"attempt": 1, "releasedUntil": "9999-12-31T23:59:59Z",
                                           "releasedBecause": "somebody says so"})
        for name, kind in jobs.items():
            self.await_message(kind, name, "released until 2", "somebody says so")
        self.check_calm(jobs)
        for name, kind in jobs.items():
            self.write_ledger(name, kind, None)
        self.check_ends_well(jobs)
