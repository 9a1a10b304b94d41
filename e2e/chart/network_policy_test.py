#!/usr/bin/python3
"""NetworkPolicies at work: the chart's own, and that of docs/helm.md for namespaces of jobs.

The cluster is one of its own, whose node enforces them, and TaaS is installed there with the policy
on. Rules follow a change within a second or so, so what may reach what is asked until it is as it
should be: each table has what must be reached beside what must not.

Part of `make e2e`.
"""

import json
import re

import yaml

import helm
import long_job
import taas
from cluster import Cluster
from control_plane import API_SERVICE
from scenario import Scenario, shell_pod

READERS = "monitoring"
SETTINGS = {
    "networkPolicy.enabled": True,
    "networkPolicy.metricsFrom": [
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": READERS}}}],
}
OF_A_JOB = {"taas.dev/job-name": "any"}
CLUSTER_PORT, STATUS_PORT = 2222, 2223
METRICS_PORT = 8080
SERVES_BOTH = f"httpd -f -p {CLUSTER_PORT} & exec httpd -f -p {STATUS_PORT}"
# A connection that is refused or dropped is given up after so many seconds.
PATIENCE_S = "2"
TFJOB_STEPS = 200


def tfjob(namespace):
    container = {
        "name": "tensorflow",
        "image": "taas/trainer:" + helm.read("VERSION").strip(),
        "env": [{"name": "TAAS_TRAINER", "value": json.dumps({
            "model": {"name": "softmax"}, "data": {"format": "generated"},
            "maxSteps": TFJOB_STEPS})}],
    }
    role = {"replicas": 1, "restartPolicy": "ExitCode",
            "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": "short", "namespace": namespace},
        "spec": {"tfReplicaSpecs": {"Chief": role, "PS": role, "Worker": role}},
    }


def policy_of_the_page(namespace):
    """The example of docs/helm.md, for another namespace than that of the page."""
    section = re.search(r"^## Network policy\n(.*?)^## ", helm.read("docs", "helm.md"), re.M | re.S)
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", section.group(1), re.M | re.S)
    policy = yaml.safe_load(text)
    policy["metadata"]["namespace"] = namespace
    return policy


class NetworkPolicyTest(Scenario):

    needs = ("components", "node")
    shared = False
    # A TFJob's pods have no security context but what its user wrote.
    pod_security = "baseline"

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        try:
            taas.load_images(cls.cluster.node)
            cls.cluster.node.enforce_network_policies()
            settings = [f"--set-json={name}={json.dumps(value)}"
                        for name, value in SETTINGS.items()]
            taas.install(cls.cluster.kubectl, *settings)
            cls.cluster.kubectl.create(taas.namespace(READERS, "restricted"))
        except BaseException:
            cls.cluster.keep_logs()
            raise

    def keep_traces(self):
        super().keep_traces()
        self.cluster.keep_logs()

    def start(self, *pods):
        """Starts them; {name: (namespace, name, address)} when all run."""
        self.kubectl.create(*pods)
        found = {}
        for pod in pods:
            name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
            self.addCleanup(self.kubectl, "delete", "pod", name, "-n", namespace, "--wait=false",
                            "--ignore-not-found")
            found[name] = (namespace, name, self.wait_for(
                f"the address of {name}", lambda: self.address(name, namespace)))
        return found

    def address(self, pod, namespace):
        status = self.look_at_pod(pod, namespace)["status"]
        return status.get("podIP") if status.get("phase") == "Running" else None

    def reaches(self, pod, address, port):
        namespace, name, _ = pod
        return self.kubectl.succeeds("exec", "-n", namespace, name, "--", "sh", "-c",
                                     f"nc -w {PATIENCE_S} {address} {port} </dev/null >/dev/null")

    def await_reach(self, wanted):
        """`wanted`: {(pod, address, port): whether it may be reached}."""
        self.assertEqual(set(wanted.values()), {True, False})
        seen = {}

        def as_wanted():
            seen.update({way: self.reaches(*way) for way in wanted})
            return seen == wanted

        try:
            self.wait_for("the policies to hold", as_wanted)
        finally:
            for way, reached in seen.items():
                if reached != wanted[way]:
                    print(f"{way}: reached {reached}, wanted {wanted[way]}", flush=True)

    def test_the_operators_pods_reach_the_api_server_and_status_pages_and_nothing_else(self):
        (operators,) = helm.of_operator(helm.rendered("defaults"), "Deployment")
        pods = self.start(
            shell_pod("as-operator", taas.NAMESPACE,
                      operators["spec"]["selector"]["matchLabels"]),
            shell_pod("beside", taas.NAMESPACE),
            shell_pod("of-a-job", self.namespace, OF_A_JOB, SERVES_BOTH),
            shell_pod("of-none", self.namespace, script=SERVES_BOTH))
        operator, beside = pods["as-operator"], pods["beside"]
        of_a_job, of_none = pods["of-a-job"][2], pods["of-none"][2]
        self.await_reach({
            (operator, API_SERVICE, 443): True,
            (operator, self.cluster.plane.address, 6443): True,
            (operator, of_a_job, STATUS_PORT): True,
            (operator, of_a_job, CLUSTER_PORT): False,
            (operator, of_none, STATUS_PORT): False,
            (beside, of_a_job, CLUSTER_PORT): True,
            (beside, of_none, STATUS_PORT): True,
        })

    def test_metrics_are_read_by_those_alone_who_are_named(self):
        pods = self.start(shell_pod("reader", READERS), shell_pod("other", self.namespace))
        (operator, _) = taas.operators(self.kubectl)
        metrics = self.address(operator, taas.NAMESPACE)
        server = self.start(shell_pod("server", self.namespace, script=SERVES_BOTH))["server"]
        self.await_reach({
            (pods["reader"], metrics, METRICS_PORT): True,
            (pods["other"], metrics, METRICS_PORT): False,
            (pods["other"], server[2], STATUS_PORT): True,
        })

    def test_jobs_train_and_are_followed_behind_the_policy_of_the_page(self):
        elsewhere = self.namespace + "-out"
        self.kubectl.create(taas.namespace(elsewhere, "baseline"))
        self.addCleanup(self.kubectl, "delete", "namespace", elsewhere, "--wait=false")
        self.await_account(elsewhere)
        self.kubectl.create(long_job.of(self.namespace))
        self.await_training(long_job.NAME)
        pods = self.start(shell_pod("of-a-job", self.namespace, OF_A_JOB),
                          shell_pod("of-none", self.namespace),
                          shell_pod("outside", elsewhere, OF_A_JOB))
        chief = self.address(long_job.PODS[0], self.namespace)
        ways = [(pod, chief, port) for pod in pods.values()
                for port in (CLUSTER_PORT, STATUS_PORT)]
        for way in ways:
            self.assertTrue(self.reaches(*way), way)
        self.kubectl.create(policy_of_the_page(self.namespace))
        self.await_reach({way: way[0] == pods["of-a-job"] for way in ways})
        step = self.step(long_job.NAME)
        self.wait_for("progress", lambda: self.step(long_job.NAME) > step)
        worker = long_job.PODS[2]
        before = self.pod_uid(worker)
        self.k("delete", "pod", worker, "--wait=false")
        self.await_successor(worker, before)
        self.wait_for("steps of the new worker", lambda: self.steps_logged(worker))
        self.kubectl.create(tfjob(self.namespace))
        status = self.await_success("short", "tfjob")
        self.assertEqual(status["progress"]["step"], TFJOB_STEPS)
