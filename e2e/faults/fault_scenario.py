"""What tests on the cluster to be broken share: jobs of both kinds, and that the operator lives on.

    class MyTest(FaultScenario):

        def test_something(self):
            self.submit("tj", training_job("a", workers=2))
            self.await_running("tj", "a", 2)
"""

import time

import fault_cluster
from fake_nodes import PLAYED
from direct_api import PLURALS, core, jobs
from scenario import Scenario

# Far above what anything here takes, seconds, on a machine with much else to do.
LIMIT_S = 120
# Who asks again and again does so more often.
REST_S = 3


class FaultScenario(Scenario):

    needs = ("components",)
    shared = False
    # What one of them breaks others would miss. Each lane has a cluster.
    lane = "faults"
    # What kwok's nodes run has no program, so it needs no rights either.
    pod_security = "baseline"

    def find_cluster(self):
        return fault_cluster.shared(self.lane, self.until_end)

    def setUp(self):
        self.cluster = self.find_cluster()
        self.plane = self.cluster.plane
        self.api = self.cluster.api
        self.operator = self.cluster.operator
        super().setUp()

    def tearDown(self):
        # It was started once, so whoever runs has never crashed.
        self.assertTrue(self.operator.check())
        super().tearDown()

    def keep_traces(self):
        super().keep_traces()
        self.cluster.keep_logs()

    def wait_for(self, what, check, limit_s=LIMIT_S):
        return super().wait_for(what, check, limit_s)

    # Jobs. `kind` is as kubectl's short name: tj or tfjob.

    def submit(self, kind, job, namespace=None):
        return self.api.done("POST", jobs(namespace or self.namespace, kind), job)

    def job_path(self, kind, name, part=""):
        return jobs(self.namespace, kind, name, part)

    def get_job(self, kind, name, namespace=None):
        return self.api.get(jobs(namespace or self.namespace, kind, name))

    def edit(self, kind, name, change):
        return self.api.done("PATCH", self.job_path(kind, name), change)

    def status_of(self, kind, name, namespace=None):
        return (self.get_job(kind, name, namespace) or {}).get("status", {})

    def message_of(self, kind, name, namespace=None):
        return self.status_of(kind, name, namespace).get("message", "")

    def await_message(self, kind, name, *words, namespace=None):
        """The message, once it has all of `words`."""

        def message():
            text = self.message_of(kind, name, namespace)
            return text if all(word in text for word in words) else None

        return self.wait_for(f"a message of {kind}/{name} with {words}", message)

    def await_running(self, kind, name, workers, namespace=None):
        """Its status, once all replicas run."""

        return self.wait_for(f"{kind}/{name} to run with {workers} workers",
                             lambda: self.running_status(kind, name, workers, namespace))

    def running_status(self, kind, name, workers, namespace=None):
        """None: not all of them run."""
        now = self.status_of(kind, name, namespace)
        ready = now.get("ready") == f"{workers}/{workers}"
        return now if ready and now.get("state") == "Running" else None

    def await_restarts(self, kind, name, workers, wanted):
        """Its status, once all replicas run and so many restarts are counted. The status is written
        after the successor is made, which may run before that."""

        def status():
            now = self.running_status(kind, name, workers)
            counted = sum((now or {}).get("restarts", {}).values())
            return now if counted >= sum(wanted.values()) else None

        found = self.wait_for(f"{kind}/{name} to run after the restarts {wanted}", status)
        self.assertEqual(found["restarts"], wanted)
        return found

    # Pods.

    def pod_path(self, name, part=""):
        return core(self.namespace, "pods", name, part)

    def pod(self, name, namespace=None):
        return self.api.get(core(namespace or self.namespace, "pods", name))

    def uid(self, name):
        pod = self.pod(name)
        return pod["metadata"]["uid"] if pod else None

    def uids(self, namespace=None):
        """Of all pods, by name."""
        found = self.api.get(core(namespace or self.namespace, "pods"))
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in found["items"]}

    def take_from_kwok(self, name):
        """kwok does no more for a pod. It ends deletions by name, late or twice at times, and then
        it is the successor that goes."""
        self.api.done("PATCH", self.pod_path(name), {"metadata": {"annotations": {PLAYED: "yes"}}})

    def remove(self, name):
        """A pod is gone at once."""
        self.take_from_kwok(name)
        self.api.done("DELETE", self.pod_path(name) + "?gracePeriodSeconds=0")

    def await_other_pod(self, name, before, phase="Running"):
        """The pod of that name that is not `before`, once it runs."""

        def successor():
            pod = self.pod(name)
            same = pod is None or pod["metadata"]["uid"] == before
            return pod if not same and pod["status"].get("phase") == phase else None

        return self.wait_for(f"the successor of pod {name}", successor)

    def hold(self, name):
        """Keeps a pod from being gone, as another controller's finalizer does. One that kwok runs
        loses all finalizers."""
        self.api.done("PATCH", self.pod_path(name),
                      {"metadata": {"finalizers": ["example.org/hold"]}})

    def let_go(self, name):
        self.api.done("PATCH", self.pod_path(name), {"metadata": {"finalizers": None}})

    def version_of_all(self):
        """Changes when any job or pod of the namespace does."""
        paths = [core(self.namespace, "pods"), *(jobs(self.namespace, kind) for kind in PLURALS)]
        return [sorted(item["metadata"]["resourceVersion"]
                       for item in self.api.get(path)["items"]) for path in paths]

    def await_rest(self, *operators):
        """Until for some seconds nothing is asked for, and nothing of this namespace changes."""
        operators = operators or (self.operator,)

        def seen():
            return [operator.requests() for operator in operators], self.version_of_all()

        def rests():
            before = seen()
            self.pass_time(REST_S)
            return before == seen()

        self.wait_for("the operator to be at rest", rests)

    def pass_time(self, seconds):
        """Gives the operator the time to do what it should not do."""
        until = time.monotonic() + seconds
        self.wait_for(f"{seconds} s to pass", lambda: time.monotonic() >= until)


class ForeignScenario(FaultScenario):
    """Objects that are nobody's business, and what became of them."""

    # They break nothing of the cluster, so that those which do run beside them, on another one.
    lane = "objects"

    def make(self, *objects):
        """The uids of what was made, by path."""
        found = {}
        for one in objects:
            resource = one["kind"].lower() + "s"
            made = self.api.done("POST", core(self.namespace, resource), one)
            found[core(self.namespace, resource, made["metadata"]["name"])] = (
                made["metadata"]["uid"])
        return found

    def check_untouched(self, made):
        for path, uid in made.items():
            metadata = self.api.get(path)["metadata"]
            self.assertEqual(metadata["uid"], uid, path)
            self.assertNotIn("deletionTimestamp", metadata, path)
