#!/usr/bin/python3
"""GPUs of a real node on the dashboard's map: which device each replica holds, as the kubelet
reports it (feature gate ResourceHealthStatus), and how busy it is, as the trainers measure it.

Part of `make e2e`.
"""

import json
import urllib.request

from dashboard_scenario import PERSON, DashboardScenario
from device_plugin import MEMORY_MIB, SMALL, STEPS, DevicePlugin

FIRST = "GPU-3d1e0f52-0000-4000-8000-00000000000a"
SECOND = "GPU-3d1e0f52-0000-4000-8000-00000000000b"


class GpuMapTest(DashboardScenario):

    # While the node has GPUs, jobs of other tests that wait for some would get them.
    alone = True
    needs = ("node", "components")

    def setUp(self):
        super().setUp()
        name = "nodes-of-" + self.namespace
        self.kubectl("create", "clusterrole", name, "--verb=get,list", "--resource=nodes")
        self.addCleanup(self.kubectl, "delete", "clusterrole", name)
        self.kubectl("create", "clusterrolebinding", name, "--clusterrole=" + name,
                     f"--serviceaccount={self.namespace}:{PERSON}")
        self.addCleanup(self.kubectl, "delete", "clusterrolebinding", name)
        self.bearer = self.token()
        self.gpus = self.enterContext(DevicePlugin(self.cluster, [FIRST, SECOND]))

    def train(self):
        trainer = {"model": {"name": "softmax"}, "data": {"format": "generated"},
                   "maxSteps": STEPS}
        roles = {"chief": {"replicas": 1, "gpus": 1, "resources": SMALL},
                 "ps": {"replicas": 1, "resources": SMALL},
                 "worker": {"replicas": 1, "gpus": 1, "resources": SMALL}}
        job = {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "busy"},
               "spec": {"trainer": trainer, "roles": roles}}
        self.k("apply", "-f", "-", stdin=json.dumps(job))

    def node(self):
        request = urllib.request.Request(self.url + "api/gpus")
        request.add_header("Authorization", "Bearer " + self.bearer)
        with urllib.request.urlopen(request, timeout=60) as reply:
            nodes = json.load(reply)["nodes"]
        return next((it for it in nodes if it["name"] == "node-0"), {"holders": [], "devices": []})

    def devices(self):
        return {it["id"]: it for it in self.node()["devices"]}

    def used(self):
        return {gpu: it.get("utilization") for gpu, it in self.devices().items()}

    def test_which_device_each_replica_holds_and_how_busy_it_is(self):
        self.gpus.set(FIRST, utilization=93, used=61234)
        self.gpus.set(SECOND, utilization=7)
        self.train()
        self.wait_for("both devices on the map", lambda: set(self.devices()) == {FIRST, SECOND})
        node = self.node()
        self.assertEqual((node["capacity"], node["simulated"]), (2, False))
        held = {it["role"]: it for it in node["holders"]}
        self.assertEqual(set(held), {"chief", "worker"})
        self.assertEqual({it["source"] for it in held.values()}, {"allocatedResourcesStatus"})
        self.assertEqual({gpu for it in held.values() for gpu in it["devices"]}, {FIRST, SECOND})
        self.assertEqual({it["job"]["name"] for it in held.values()}, {"busy"})

        self.wait_for("how busy they are", lambda: self.used() == {FIRST: 0.93, SECOND: 0.07})
        first = self.devices()[FIRST]
        self.assertEqual((first["memoryUsedMiB"], first["memoryTotalMiB"], first["health"]),
                         (61234, MEMORY_MIB, "Healthy"))
        self.gpus.set(FIRST, utilization=0)
        self.wait_for("that one is idle", lambda: self.used() == {FIRST: 0, SECOND: 0.07})
        self.gpus.set(SECOND, health="Unhealthy")
        self.wait_for("that one is broken", lambda:
                      self.devices()[SECOND]["health"] == "Unhealthy")
        self.assertEqual(self.devices()[FIRST]["health"], "Healthy")
        self.k("delete", "tj", "busy")
        self.wait_for("the devices to be free", lambda: not self.node()["holders"])
