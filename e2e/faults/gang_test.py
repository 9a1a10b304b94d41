"""Gangs that find no room, or room for one of them only, on a scheduler that knows gangs."""

import audit
import taas
from direct_api import core, jobs
from fault_cluster import NODES
from fault_jobs import KINDS, TOLERATION, ended, job_of, replicas_patch
from fault_scenario import FaultScenario
from gang_cluster import SCHEDULER, GangCluster

# More than half of a node: each pod of a gang needs one of its own.
HALF = {"container_spec": {"resources": {"requests": {"cpu": "20"}}}}
# So many do not fit on all nodes, though all nodes together have what they ask for …
ONE_TOO_MANY = NODES + 1
# … and so many ask for more than all nodes have.
FAR_TOO_MANY = 2 * NODES
# Two gangs of so many would hold each other up for ever, if each got half of the nodes.
MOST = NODES - 1
# A TFJob is in a gang whenever there is a scheduler for it.
POLICY = {"tj": {"gang": "Required"}, "tfjob": {}}
CONTAINER = {"tj": "trainer", "tfjob": "tensorflow"}


def gang(kind, name, workers, pod=HALF, **policy):
    return job_of(kind, name, workers, pod, schedulingPolicy={**POLICY[kind], **policy})


class GangTest(FaultScenario):

    # The class has a cluster of its own, which ends with it.
    lane = ""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own = cls.enterClassContext(GangCluster())

    def find_cluster(self):
        return self.own

    def setUp(self):
        super().setUp()
        self.addCleanup(self.await_empty_nodes)

    def tearDown(self):
        self.assertTrue(self.plane.healthy())
        requests = audit.requests(self.plane.audit_log, taas.USER)
        self.assertIn(("create", "podgroups"), audit.by_resource(requests))
        self.assertEqual(self.cluster.asked_without_right(), [], "asked for without a right")
        super().tearDown()

    def await_empty_nodes(self):
        self.wait_for("nodes without pods", lambda: not self.api.get(
            "/api/v1/pods?fieldSelector=spec.nodeName!=")["items"])

    # Looking.

    def pods_of(self, job):
        labels = "taas.dev/job-name=" + job
        return self.api.get(core(self.namespace, f"pods?labelSelector={labels}"))["items"]

    def check_unbound(self, job, workers):
        """None of its pods has a node, nor had one: they are the first, and a node is for ever."""
        pods = self.pods_of(job)
        self.assertEqual(len(pods), workers)
        for pod in pods:
            self.assertEqual(pod["spec"].get("nodeName"), None)
            self.assertEqual(pod["spec"]["schedulerName"], SCHEDULER)
            self.assertEqual(pod["metadata"]["labels"]["taas.dev/pod-number"], "1")

    def phase(self, job):
        return self.cluster.group(self.namespace, job).get("status", {}).get("phase")

    def await_phase(self, job, phase):
        self.wait_for(f"PodGroup {job} to be {phase}", lambda: self.phase(job) == phase)

    # Doing.

    def place_another(self, name):
        """A pod of no gang: the cluster's own scheduler has it."""
        self.api.done("POST", core(self.namespace, "pods"), {
            "metadata": {"name": name},
            "spec": {"tolerations": [TOLERATION], "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "plain", "image": "own/program:1"}]}})
        self.wait_for(f"{name} to run", lambda: self.pod(name)["status"].get(
            "phase") == "Running")
        self.assertEqual(self.pod(name)["spec"]["schedulerName"], "default-scheduler")

    def end(self, kind, *pods):
        """Those of them that are there still."""
        self.api.all([("PATCH", self.pod_path(name, "status"), ended(CONTAINER[kind], 0))
                      for name in pods])

    def end_all(self, kind, job, workers):
        self.end(kind, *(f"{job}-worker-{i}" for i in range(workers)))
        self.assertEqual(self.await_end(job, kind)["state"], "Succeeded")

    def test_a_gang_that_does_not_fit_has_no_node_says_why_and_runs_when_nodes_come(self):
        names = {kind: "wide-" + kind for kind in KINDS}
        for kind, name in names.items():
            self.submit(kind, gang(kind, name, ONE_TOO_MANY, minAvailable=ONE_TOO_MANY))
        for kind, name in names.items():
            self.await_message(kind, name, "cannot be scheduled", "nodes are available: ")
            self.await_phase(name, "Scheduling")
        self.place_another("beside")
        for name in names.values():
            self.check_unbound(name, ONE_TOO_MANY)
        added = NODES, 2 * ONE_TOO_MANY - NODES
        self.addCleanup(self.cluster.remove_nodes, *added)
        # Before the nodes go, or their pods would stay for long.
        self.addCleanup(self.await_empty_nodes)
        self.cluster.add_nodes(*added)
        # As each new node has pods of its own. The plugin sees them, not the node.
        self.place_another("of-the-node")
        for kind, name in names.items():
            self.await_running(kind, name, ONE_TOO_MANY)
            self.await_phase(name, "Running")

    def test_a_gang_larger_than_all_nodes_says_so_and_runs_when_it_is_made_smaller(self):
        for kind in KINDS:
            self.submit(kind, gang(kind, "far-" + kind, FAR_TOO_MANY))
        for kind in KINDS:
            self.await_message(kind, "far-" + kind, "cannot be scheduled", "resource gap", "cpu")
            self.check_unbound("far-" + kind, FAR_TOO_MANY)
        for kind in KINDS:
            self.edit(kind, "far-" + kind, replicas_patch(kind, NODES // 2))
        for kind in KINDS:
            self.await_running(kind, "far-" + kind, NODES // 2)

    def test_gangs_that_fit_one_at_a_time_run_whole_one_after_the_other(self):
        waiting = {(kind, f"{kind}-{i}") for kind in KINDS for i in range(2)}
        self.api.all([("POST", jobs(self.namespace, kind), gang(kind, name, MOST))
                      for kind, name in waiting])
        while waiting:
            kind, name = self.await_first(waiting)
            waiting.remove((kind, name))
            for other in waiting:
                self.await_message(*other, "cannot be scheduled", "nodes are available: ")
                self.check_unbound(other[1], MOST)
            self.end_all(kind, name, MOST)
            self.wait_for(f"the end of PodGroup {name}",
                          lambda job=name: self.cluster.group(self.namespace, job) is None)

    def test_a_lost_pod_is_placed_again_though_others_of_its_gang_have_ended(self):
        for kind in KINDS:
            self.submit(kind, gang(kind, "part-" + kind, MOST, pod=None))
        for kind in KINDS:
            self.await_running(kind, "part-" + kind, MOST)
        for kind in KINDS:
            self.end(kind, f"part-{kind}-worker-{MOST - 1}")
            lost = f"part-{kind}-worker-1"
            before = self.uid(lost)
            self.remove(lost)
            self.await_other_pod(lost, before)
            # The scheduler counts those that have not ended, and fewer than all would wait.
            self.assertEqual(self.cluster.group(self.namespace, "part-" + kind)["spec"][
                "minMember"], MOST - 1)

    def await_first(self, waiting):
        """The one of them that runs with all its workers."""
        return self.wait_for("one of them to run", lambda: next(
            (job for job in waiting if self.status_of(*job).get("ready") == f"{MOST}/{MOST}"),
            None))
