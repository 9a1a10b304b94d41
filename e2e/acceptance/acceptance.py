"""What the tests of jobs' semantics share: jobs on nodes of kwok, of which everything is played.

    class MyTest(Acceptance):

        def test_something(self):
            job = self.start(TFJOB.job("mnist", {"ps": 1, "worker": 2}, policy="Never"))
            self.await_running(job)
            self.kubelet.end(job.pod("worker"), 0)
            self.await_status({job: {"state": "Succeeded"}})
            self.assertEqual(self.pods_made()[job.pod("worker")], 1)

The control plane is whole: scheduler, garbage collector and the controllers of endpoints do their
part. Many jobs of one test live side by side, so that they wait together.
"""

import collections
import datetime
import re

from job_kinds import KINDS
from namespace_api import NamespaceApi
from played_kubelet import PlayedKubelet
from scenario import Scenario
from waiting import TookTooLong, until

# What follows a change within a second; many times as long where others compute.
LIMIT_S = 90
# Each look is two to four requests on an open connection.
POLL_S = 0.1
# So many of the jobs that are not as they should be are told of.
TOLD_MAX = 4


class Acceptance(Scenario):

    needs = ("fake nodes",)
    # The jobs bring images of their own and say nothing of security.
    pod_security = "baseline"

    def setUp(self):
        super().setUp()
        self.api = NamespaceApi(self.cluster.kubeconfig, self.namespace)
        self.addCleanup(self.api.close)
        self.since = self.api.mark_pods()
        self.kubelet = PlayedKubelet(self.api)
        self.addCleanup(self.kubelet.stop)
        # Nobody confirms a deletion any more.
        self.addCleanup(self.api.delete, "pods", "", gracePeriodSeconds=0)
        self.kubelet.start()

    def start(self, *jobs):
        """The one job, or all of them."""
        for job in jobs:
            self.api.create(job.kind.resource, job.manifest)
        return jobs[0] if len(jobs) == 1 else jobs

    def change(self, job, **policies):
        """Of a stored job."""
        self.api.patch(job.kind.resource, job.name, {"spec": job.kind.with_policies(policies)})

    def scale(self, job, role, replicas):
        self.api.patch(job.kind.resource, job.name, {"spec": {
            job.kind.roles_field(): {job.kind.role_key(role): {"replicas": replicas}}}})

    def stored(self, job):
        return self.api.get(job.kind.resource, job.name)

    def status_of(self, job):
        return self.stored(job).get("status", {})

    def last_condition(self, job):
        """What tools of TFJobs take for the state."""
        return self.status_of(job)["conditions"][-1]

    # Waiting.

    def await_true(self, what, check, limit_s=LIMIT_S):
        try:
            return until(what, check, limit_s, POLL_S)
        except TookTooLong as error:
            seen = self.k("get", "tj,tfjob,pods", "-o", "wide", check=False)
            raise AssertionError(f"{error}\n{seen}") from None

    def await_status(self, wanted, limit_s=LIMIT_S):
        """Until the status of each job has these values. A pattern is to be found in the value, a
        function to be true of it."""
        wrong = {}

        def looks_right():
            stored = {kind: self.api.list(kind.resource) for kind in KINDS}
            wrong.clear()
            for job, fields in wanted.items():
                status = stored[job.kind].get(job.name, {}).get("status", {})
                if any(not fits(status.get(field), value) for field, value in fields.items()):
                    wrong[job] = status
            return not wrong

        try:
            until("jobs to be as they should", looks_right, limit_s, POLL_S)
        except TookTooLong:
            told = [f"{job.kind.name} {job.name}: want {wanted[job]}, is {status}"
                    for job, status in list(wrong.items())[:TOLD_MAX]]
            raise AssertionError(f"{len(wrong)} of {len(wanted)} jobs are not as they should be "
                                 f"after {limit_s} s:\n" + "\n".join(told)) from None

    def await_running(self, *jobs, completed=0):
        """Until all pods of the jobs run, but `completed` of each, and the operator knows."""
        self.await_status({job: {"state": "Running", "ready": all_of(job, completed)}
                           for job in jobs})

    def await_pods(self, *names):
        """Until each of these runs."""

        def all_run():
            pods = self.api.list("pods")
            return all(runs(pods.get(name)) for name in names)

        self.await_true(f"{', '.join(names)} to run", all_run)

    def await_successors(self, before):
        """Until pods with other uids than in `before`, by name, run in their places."""

        def replaced():
            pods = self.api.list("pods")
            return all(runs(pods.get(name)) and pods[name]["metadata"]["uid"] != uid
                       for name, uid in before.items())

        self.await_true(f"the successors of {', '.join(before)}", replaced)

    def await_pods_left(self, wanted):
        """Until each job has just these pods."""

        def just_these():
            left = self.left()
            return all(left[job.name] == set(names) for job, names in wanted.items())

        self.await_true(f"the pods { {job.name: names for job, names in wanted.items()} }",
                        just_these)

    # Looking.

    def uids(self, *names):
        pods = self.api.list("pods")
        return {name: pods[name]["metadata"]["uid"] for name in names}

    def objects(self):
        """Pods and services by resource and name: those of a TFJob have the same names."""
        return {(resource, name): item for resource in ("pods", "services")
                for name, item in self.api.list(resource).items()}

    def left(self):
        """Names of the pods that are there and stay, by job."""
        left = collections.defaultdict(set)
        for name, pod in self.api.list("pods").items():
            if "deletionTimestamp" not in pod["metadata"]:
                left[pod["metadata"].get("labels", {}).get("taas.dev/job-name")].add(name)
        return left

    def pods_made(self):
        """How many pods of each name there have been since the test began."""
        return collections.Counter(change.object["metadata"]["name"]
                                   for change in self.changes_of_pods() if change.kind == "ADDED")

    def changes_of_pods(self):
        """Since the test began."""
        return self.api.changes_of_pods(self.since)

    def variables(self, pod):
        """The environment of its first container."""
        container = self.api.get("pods", pod)["spec"]["containers"][0]
        return {item["name"]: item.get("value", "") for item in container.get("env", [])}


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def moment(text):
    """As Kubernetes writes one."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def runs(pod):
    return (pod is not None and pod["status"].get("phase") == "Running"
            and "deletionTimestamp" not in pod["metadata"])


def all_of(job, completed=0):
    count = sum(job.roles.values())
    return f"{count - completed}/{count}"


def fits(value, wanted):
    if callable(wanted):
        return wanted(value)
    if isinstance(wanted, re.Pattern):
        return wanted.search(value or "") is not None
    if isinstance(wanted, dict):
        # An object of which nothing is said is absent.
        return (value or {}) == wanted
    return value == wanted
