"""A node that falls silent: its pods are made again elsewhere, and nobody is blamed for it."""

import datetime

from fault_jobs import KINDS, job_of, running
from fault_scenario import LIMIT_S, FaultScenario

# The controller manager's own are 50 s and 5 s. Within the first the API server, this test and
# kwok, which renews every 2 s, have to come to their turn on a machine with much else to do: who
# does not is lost, and all nodes together are no loss at all.
SHORT = ["--node-monitor-grace-period=20s", "--node-monitor-period=1s"]
TAINT = {"key": "e2e/silent", "value": "yes", "effect": "NoSchedule"}
WORKERS = 2
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
# How a TFJob says how long a node may be away; without them the operator gives its pods 60 s.
TOLERATIONS = [{"key": "node.kubernetes.io/" + key, "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 1} for key in ("unreachable", "not-ready")]


class NodeLossTest(FaultScenario):

    # Whether the node lets the cluster know of it.
    alive = False

    def setUp(self):
        super().setUp()
        manager = self.cluster.components["kube-controller-manager"]
        self.addCleanup(self.restart_with, manager, list(manager.command))
        self.restart_with(manager, manager.command + SHORT)
        self.node = "silent-" + self.namespace
        self.addCleanup(self.api, "DELETE", "/api/v1/nodes/" + self.node)
        self.make_node()

    def restart_with(self, component, command):
        component.stop()
        component.command = command
        component.start()

    def make_node(self):
        room = {"cpu": "8", "memory": "8Gi", "pods": "20"}
        self.api.done("POST", "/api/v1/nodes", {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.node, "labels": {"e2e/node": self.node}},
            "spec": {"taints": [TAINT]},
            "status": {"capacity": room, "allocatable": room,
                       "conditions": [{"type": "Ready", "status": "True"}]},
        })
        self.api.done("POST", LEASES, {
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": self.node}, "spec": {"holderIdentity": self.node}})
        self.alive = True
        self.wait_for("the node to take pods", self.is_open)

    def wait_for(self, what, check, limit_s=LIMIT_S):
        """Whatever is waited for, the node does not fall silent before its time."""

        def beats():
            if self.alive:
                self.beat()
            return check()

        return super().wait_for(what, beats, limit_s)

    def is_open(self):
        return self.api.get("/api/v1/nodes/" + self.node)["spec"]["taints"] == [TAINT]

    def beat(self):
        """What the node does to be taken for alive."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.api.done("PATCH", f"{LEASES}/{self.node}", {"spec": {"renewTime": now}})

    def come_back(self):
        self.api.done("PATCH", f"/api/v1/nodes/{self.node}/status", {"status": {
            "conditions": [{"type": "Ready", "status": "True"}]}})
        self.alive = True
        self.wait_for("the node to take pods again", self.is_open)

    def pod_on_the_node(self, name):
        pod = self.pod(name)
        return pod if pod and pod["spec"].get("nodeName") == self.node else None

    def placed_there(self, *tolerations):
        """A template's part: here if it can be, else anywhere."""
        wish = {"weight": 100, "preference": {"matchExpressions": [
            {"key": "e2e/node", "operator": "In", "values": [self.node]}]}}
        return {"affinity": {"nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [wish]}},
            "tolerations": [{"key": TAINT["key"], "operator": "Exists"}, *tolerations]}

    def test_its_pods_are_made_again_elsewhere_and_count_as_lost_with_it(self):
        # One restart by user error would be one too many.
        self.submit("tj", job_of("tj", "lost-tj", WORKERS, self.placed_there(), backoffLimit=0,
                                 nodeLossSeconds=1))
        self.submit("tfjob", job_of("tfjob", "lost-tfjob", WORKERS,
                                    self.placed_there(*TOLERATIONS), backoffLimit=1))
        names = {kind: [f"lost-{kind}-worker-{index}" for index in range(WORKERS)]
                 for kind in KINDS}
        before = {}
        for kind, container in (("tj", "trainer"), ("tfjob", "tensorflow")):
            for name in names[kind]:
                pod = self.wait_for(f"{name} on the node", lambda n=name: self.pod_on_the_node(n))
                before[name] = pod["metadata"]["uid"]
                self.api.done("PATCH", self.pod_path(name, "status"), running(container))
        for name in before:
            self.hold(name)
        for kind in KINDS:
            self.await_running(kind, "lost-" + kind, WORKERS)
        self.alive = False
        for kind in KINDS:
            self.await_message(kind, "lost-" + kind, self.node, "does not answer")
        # Until then they have stayed, however late somebody looked.
        for name in before:
            self.let_go(name)
        for kind in KINDS:
            for name in names[kind]:
                pod = self.await_other_pod(name, before[name])
                self.assertNotEqual(pod["spec"]["nodeName"], self.node)
            status = self.await_running(kind, "lost-" + kind, WORKERS)
            self.assertEqual(status["restarts"], {"nodeLost": WORKERS})
            self.assertEqual(status["message"], "")
        # The node comes back when other pods have taken the place of its own.
        uids = self.uids()
        self.come_back()
        self.await_rest()
        self.assertEqual(self.uids(), uids)
        for kind in KINDS:
            self.assertEqual(self.await_running(kind, "lost-" + kind, WORKERS)["restarts"],
                             {"nodeLost": WORKERS})


class TolerationTest(FaultScenario):

    def test_a_tfjob_that_says_nothing_waits_a_minute_for_a_lost_node(self):
        self.submit("tfjob", job_of("tfjob", "silent"))
        pod = self.wait_for("its pod", lambda: self.pod("silent-worker-0"))
        self.assertEqual(
            {entry["key"]: entry.get("tolerationSeconds") for entry in pod["spec"]["tolerations"]
             if entry.get("effect") == "NoExecute"},
            {"node.kubernetes.io/unreachable": 60, "node.kubernetes.io/not-ready": 60})
