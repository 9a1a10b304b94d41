"""Two operators at once that know nothing of each other: what they do together, one would have."""

from direct_api import core
from fault_jobs import KINDS, ended, job_of, replicas_patch
from fault_scenario import FaultScenario

# Of each kind; each look at one is a race of the two.
JOBS = 8
CONTAINER = {"tj": "trainer", "tfjob": "tensorflow"}


class TwoOperatorsTest(FaultScenario):

    def setUp(self):
        super().setUp()
        self.other = self.cluster.start_operator("other", "--namespaces=" + self.namespace)
        self.addCleanup(self.other.stop)
        self.names = [(kind, f"{kind}-{i}") for kind in KINDS for i in range(JOBS)]

    def number_of(self, pod):
        return self.pod(pod)["metadata"]["labels"]["taas.dev/pod-number"]

    def await_all(self, workers):
        return [self.await_running(kind, name, workers) for kind, name in self.names]

    def test_no_pod_is_made_twice_no_end_counted_twice_and_they_come_to_rest(self):
        for kind, name in self.names:
            self.submit(kind, job_of(kind, name, 2))
        for status in self.await_all(2):
            self.assertNotIn("restarts", status)
        first = self.uids()
        self.assertEqual(len(first), 4 * JOBS)
        self.assertEqual({self.number_of(pod) for pod in first}, {"1"})
        lost = [name + "-worker-1" for _, name in self.names]
        for pod in lost:
            self.remove(pod)
        for pod in lost:
            self.await_other_pod(pod, first[pod])
            self.assertEqual(self.number_of(pod), "2")
        for kind, name in self.names:
            self.await_restarts(kind, name, 2, {"preempted": 1})
        for kind, name in self.names:
            self.edit(kind, name, replicas_patch(kind, 1))
        self.await_all(1)
        self.wait_for("one pod each", lambda: len(self.uids()) == 2 * JOBS)
        # Those that nothing was done to are the first ones still.
        kept = {pod: uid for pod, uid in first.items() if pod not in lost}
        self.assertEqual(self.uids(), kept)
        self.await_rest(self.operator, self.other)
        self.api.all([("PATCH", self.pod_path(f"{name}-worker-0", "status"),
                       ended(CONTAINER[kind], 0)) for kind, name in self.names])
        for kind, name in self.names:
            self.assertEqual(self.await_end(name, kind)["state"], "Succeeded")
        self.await_rest(self.operator, self.other)
        self.assertTrue(self.other.check())

    def test_services_are_made_once_too(self):
        for kind, name in self.names:
            self.submit(kind, job_of(kind, name, 1))
        self.await_all(1)
        services = self.api.get(core(self.namespace, "services"))["items"]
        self.assertEqual(sorted(service["metadata"]["name"] for service in services), sorted(
            name if kind == "tj" else name + "-worker-0" for kind, name in self.names))
