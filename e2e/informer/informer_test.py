#!/usr/bin/python3
"""A real SharedInformerFactory of client-go through restarts of the API server and compactions.

Whatever happens between, in the end the informers' stores, and what the events to their handlers
add up to, are what a list says.
"""

import json
import os
import random
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["TEST_SRCDIR"], "taas", "e2e", "local"))

from api import Api  # pylint: disable=wrong-import-position
from cluster import Cluster  # pylint: disable=wrong-import-position

INFORMER = os.path.join(
    os.environ.get("TAAS_KUBERNETES_BIN", "/TAAS_KUBERNETES_BIN-is-not-set"), "informer")
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
JOBS = "/apis/taas.dev/v1/namespaces/default/trainingjobs"
# More than the store's history holds (localkube/api/store.h), so that a watch that slept is gone.
BEYOND_THE_HISTORY = 2_500
NAMES = 40


class InformerTest(unittest.TestCase):

    def setUp(self):
        if not os.path.exists(INFORMER):
            raise RuntimeError(f"{INFORMER}: `make test` builds it and sets TAAS_KUBERNETES_BIN")
        self.seed = int(os.environ.get("TAAS_SEED", "1"))
        print("seed", self.seed)
        self.random = random.Random(self.seed)
        self.cluster = Cluster()
        self.addCleanup(self.cluster.__exit__)
        self.cluster.up()
        self.api = Api(self.cluster.kubeconfig)
        self.informer = subprocess.Popen([INFORMER, self.cluster.kubeconfig], text=True,
                                         env=self.cluster.environ, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(self.informer.communicate)

    def believed(self):
        self.informer.stdin.write("\n")
        self.informer.stdin.flush()
        return json.loads(self.informer.stdout.readline())

    def listed(self, path):
        items = self.api.call("GET", path)["items"]
        return {item["metadata"]["namespace"] + "/" + item["metadata"]["name"]:
                item["metadata"]["resourceVersion"] for item in items}

    def agree(self):
        believed = self.believed()
        return all(believed[resource][view] == self.listed(path)
                   for resource, path in (("configmaps", CONFIG_MAPS), ("trainingjobs", JOBS))
                   for view in ("store", "events"))

    def churn(self, writes):
        """Creates, changes and deletes ConfigMaps at random."""
        for number in range(writes):
            name = f"m-{self.random.randrange(NAMES)}"
            body = {"metadata": {"name": name}, "data": {"number": str(number)}}
            if self.random.random() < 0.1:
                self.api.call("DELETE", f"{CONFIG_MAPS}/{name}", ok=(200, 404))
            elif self.api.code("POST", CONFIG_MAPS, body) == 409:
                self.api.call("PATCH", f"{CONFIG_MAPS}/{name}", {"data": body["data"]})

    def restart(self):
        """The server is killed and comes back on its port, with other objects than before."""
        self.cluster.process.send_signal(signal.SIGKILL)
        self.cluster.process.wait()
        self.cluster.up()
        self.api = Api(self.cluster.kubeconfig)

    def test_stores_are_equal_to_a_list_after_restarts_and_compactions(self):
        self.cluster.wait_for("the first list", self.agree)
        self.cluster.kubectl("create", "--filename=-", stdin=json.dumps(suspended_job("a")))
        self.churn(100)
        self.cluster.wait_for("the changes", self.agree)
        for _ in range(2):
            self.informer.send_signal(signal.SIGSTOP)
            self.churn(BEYOND_THE_HISTORY)
            self.informer.send_signal(signal.SIGCONT)
            self.churn(20)
            self.cluster.wait_for("what was compacted meanwhile", self.agree)
            self.informer.send_signal(signal.SIGSTOP)
            self.churn(30)
            self.restart()
            self.churn(30)
            self.informer.send_signal(signal.SIGCONT)
            self.cluster.wait_for("what came around the restart", self.agree)
        self.api.call("DELETE", f"{JOBS}/a")
        self.churn(20)
        self.cluster.wait_for("the end", self.agree)


def suspended_job(name):
    container = {"name": "trainer", "image": "own:1", "command": ["true"]}
    return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"suspend": True, "roles": {"worker": {
                "replicas": 1, "template": {"spec": {"containers": [container]}}}}}}


if __name__ == "__main__":
    unittest.main(verbosity=2)
