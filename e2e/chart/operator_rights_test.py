#!/usr/bin/python3
"""The operator with the chart's account and the chart's flags, over whole lives of jobs.

    TAAS_CLUSTER_BIN=… TAAS_KUBERNETES_BIN=… e2e/chart/operator_rights_test.py

TAAS_BIN may name another folder with taas-operator than bin/, where `make build` puts it. The API
server is real, and what a kubelet would write is written by the test. The audit log says what the
operator asked for: nothing may have been denied, and a right that was never used is one too many.
"""

import json
import os
import subprocess
import time
import unittest

import helm
from api_server import ApiServer
from rendered_rules_test import OPERATOR_VERBS

ACCOUNT = f"system:serviceaccount:{helm.NAMESPACE}:taas-operator"
# Asked for only when the reply to a write is lost or somebody else wrote at the same time.
READ_BACK = {("get", resource) for resource in ("pods", "services", "trainingjobs", "tfjobs")}
# What the operator does within milliseconds, on a loaded machine.
PATIENCE_S = 60
POLL_S = 0.1

TRAINING_JOB = {
    "apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "life"},
    "spec": {
        "trainer": {"model": {"name": "softmax"}, "data": {"format": "generated"}, "maxSteps": 10},
        "roles": {"chief": {"replicas": 1}, "ps": {"replicas": 1}, "worker": {"replicas": 1}},
        "cleanPodPolicy": "All", "ttlSecondsAfterFinished": 1,
    },
}
TF_JOB = {
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "old-life"},
    "spec": {
        "runPolicy": {"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 1},
        "tfReplicaSpecs": {"Worker": {"replicas": 1, "restartPolicy": "ExitCode", "template": {
            "spec": {"containers": [{"name": "tensorflow", "image": "none"}]}}}},
    },
}


def operator_arguments(case):
    """Those of the rendered Deployment, but on any free port of loopback."""
    (deployment,) = helm.of_kind(helm.rendered(case), "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return [
        argument.split("=")[0] + "=127.0.0.1:0"
        if argument.startswith(("--health-addr=", "--metrics-addr=")) else argument
        for argument in container["args"]
    ]


class OperatorRightsTest(unittest.TestCase):

    def setUp(self):
        self.server = ApiServer()
        self.addCleanup(self.server.stop)

    def start(self, case):
        helm.run("install", helm.RELEASE, helm.CHART, "-n", helm.NAMESPACE, "--create-namespace",
                 "--values", helm.values_file(case), kubeconfig=self.server.kubeconfig)
        token = self.server.kubectl("create", "token", "taas-operator", "-n", helm.NAMESPACE)
        kubeconfig = self.server.write_kubeconfig("operator", token.strip())
        log = open(self.server.path("operator.log"), "wb")
        self.addCleanup(log.close)
        program = helm.program("taas-operator", "TAAS_BIN", os.path.join(helm.ROOT, "bin"))
        operator = subprocess.Popen(
            [program, "--kubeconfig", kubeconfig, *operator_arguments(case)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"PATH": "/usr/bin:/bin"},
        )
        self.addCleanup(operator.wait)
        self.addCleanup(operator.terminate)

    def until(self, what, holds):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found = holds()
            if found:
                return found
            time.sleep(POLL_S)
        with open(self.server.path("operator.log"), encoding="utf-8") as file:
            raise AssertionError(f"{what}: not within {PATIENCE_S} s\n{file.read()[-2000:]}")

    def pod(self, name):
        code, out, _ = self.server.kubectl("get", "pod", name, "-n", self.namespace, "-o", "json",
                                           check=False)
        return json.loads(out) if code == 0 else None

    def set_status(self, name, phase, state):
        pod = self.until(f"pod {name}", lambda: self.pod(name))
        spec = pod["spec"]["containers"][0]
        status = {"phase": phase, "containerStatuses": [{
            "name": spec["name"], "image": spec["image"], "imageID": "", "restartCount": 0,
            "ready": phase == "Running", "state": state}]}
        self.server.kubectl("patch", "pod", name, "-n", self.namespace, "--subresource=status",
                            "--type=merge", "-p", json.dumps({"status": status}))
        return pod["metadata"]["uid"]

    def run_pod(self, name):
        self.set_status(name, "Running", {"running": {"startedAt": "2030-01-01T00:00:00Z"}})

    def end_pod(self, name, code):
        return self.set_status(name, "Failed" if code else "Succeeded",
                               {"terminated": {"exitCode": code}})

    def live(self, job, pods):
        """Its pods run, the last is killed and comes back, all end well, the job goes."""
        kind = job["kind"].lower()
        self.server.kubectl("create", "-n", self.namespace, "-f", "-", text=json.dumps(job))
        for name in pods:
            self.run_pod(name)
        killed = self.end_pod(pods[-1], 137)
        self.until("a new pod", lambda: (self.pod(pods[-1]) or {"metadata": {"uid": killed}})
                   ["metadata"]["uid"] != killed)
        self.run_pod(pods[-1])
        for name in reversed(pods):
            self.end_pod(name, 0)
        path = f"{kind}/{job['metadata']['name']}"
        self.until(f"the end of {path}", lambda: self.server.kubectl(
            "get", path, "-n", self.namespace, check=False)[0] != 0)

    def lives(self, lease=()):
        self.live(TRAINING_JOB, ["life-chief-0", "life-ps-0", "life-worker-0"])
        self.live(TF_JOB, ["old-life-worker-0"])
        requests = self.server.requests_of(ACCOUNT)
        denied = {request for request in requests if request[2] in (401, 403)}
        self.assertEqual(denied, set())
        used = {(verb, resource) for verb, resource, _ in requests if resource != "leases"}
        granted = {(verb, resource) for resource, verbs in OPERATOR_VERBS.items()
                   for verb in verbs}
        self.assertEqual(granted - used - READ_BACK, set(), "granted and never used")
        self.assertEqual({verb for verb, resource, _ in requests if resource == "leases"},
                         set(lease))

    def test_it_needs_exactly_the_rights_that_it_has_in_all_namespaces(self):
        self.namespace = "default"
        self.start("single-replica")
        self.lives()

    def test_it_needs_exactly_the_rights_that_it_has_in_its_list_of_namespaces(self):
        self.namespace = "team-b"
        for namespace in ("team-a", "team-b"):
            self.server.kubectl("create", "ns", namespace)
        self.start("namespaced")
        self.lives(lease=("get", "create", "update"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
