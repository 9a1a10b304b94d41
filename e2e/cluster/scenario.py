"""What tests on a cluster share: a namespace for each test, claims with data, jobs and waiting.

    class MyTest(Scenario):
        needs = ("node",)

        def test_something(self):
            self.apply_example("mnist")
            self.await_state("mnist", "Succeeded")

`needs` says what a test cannot do without: "components", to stop parts of the cluster; "node", to
look at processes of a node; "fake nodes", on which pods run nothing and end as the test says. A
cluster that is not ours has none of these; what needs them is listed as not run there.
`alone = True` is for what other tests would feel: an operator that goes, a node that is drained, an
API server that stops; such a test has the second cluster to itself. `shared = False` is for what
has a cluster of its own, where nothing of that is felt. Tests with the same `lane` run one after
the other.
"""

import json
import os
import unittest
import uuid

import programs
import taas
import volumes
from cluster import SHELL_IMAGE
from direct_api import core, jobs
from waiting import LIMIT_S, TookTooLong, until

# What Kubernetes' strictest Pod Security wants of a pod and of a container.
POD_SECURITY = {"runAsNonRoot": True, "runAsUser": 65532, "fsGroup": 65532,
                "seccompProfile": {"type": "RuntimeDefault"}}
CONTAINER_SECURITY = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


class Scenario(unittest.TestCase):

    needs = ()
    alone = False
    shared = True
    lane = ""
    pod_security = "restricted"
    # Set by run.py: the cluster that all tests share, the Second of those that run alone (none
    # where there is one cluster only), and a folder with data of MNIST's form.
    cluster = None
    second = None
    data_folder = None
    # Ends what a test started for those after it, when all are over.
    until_end = None

    @classmethod
    def clusters(cls):
        """On which TaaS is installed for tests of all classes."""
        return [Scenario.cluster, *(cls.second.started if cls.second is not None else [])]

    @classmethod
    def its_cluster(cls):
        """Before setUp, which sets `cluster`."""
        return cls.second.cluster() if cls.alone and cls.second is not None else cls.cluster

    def setUp(self):
        if self.alone:
            self.cluster = self.its_cluster()
        self.kubectl = self.cluster.kubectl
        self.namespace = "e2e-" + uuid.uuid4().hex[:8]
        self.cluster.make_namespace(taas.namespace(self.namespace, self.pod_security))
        self.await_account(self.namespace)

    def tearDown(self):
        self.cluster.drop_namespace(self.namespace)

    def keep_traces(self):
        """What kubectl says of this test's objects, and the operator's log."""
        path = os.path.join(self.cluster.logs, f"{self.id()}.{self.namespace}.txt")
        looks = (
            ("get", "tj,tfjob,pod,service,event,pvc", "-o", "wide", "-n", self.namespace),
            ("get", "tj,tfjob", "-o", "yaml", "-n", self.namespace),
            ("describe", "pods", "-n", self.namespace),
            ("describe", "nodes", "-l", "type!=kwok"),
            ("logs", "-l", taas.OPERATOR, "-n", taas.NAMESPACE, "--tail=200", "--prefix"),
        )
        with open(path, "w", encoding="utf-8") as file:
            for look in looks:
                done = self.kubectl.run(programs.path("kubectl"), *look, check=False)
                file.write(f"$ kubectl {' '.join(look)}\n{done.stdout}{done.stderr}\n")

    def await_account(self, namespace):
        """Pods that are made before their namespace's account are refused."""
        self.wait_for(f"the service account of {namespace}", lambda: self.cluster.look(
            core(namespace, "serviceaccounts", "default")))

    # kubectl in this test's namespace.
    def k(self, *arguments, **options):
        # In front, since what follows `--` is another program's.
        return self.kubectl("-n", self.namespace, *arguments, **options)

    def json(self, *arguments):
        return self.kubectl.json(*arguments, "-n", self.namespace)

    def wait_for(self, what, check, limit_s=LIMIT_S):
        try:
            return until(what, check, limit_s)
        except TookTooLong as error:
            seen = self.k("get", "tj,tfjob,pods", "-o", "wide", check=False)
            raise AssertionError(f"{error}\n{seen}") from None

    # Claims.

    def make_claim(self, name, folder=None):
        """A claim, with the files of `folder` in it."""
        self.kubectl.create(volumes.claim(name, self.namespace))
        if folder is not None:
            with self.mounted(name) as pod:
                pod.copy(folder)

    def mounted(self, claim):
        return MountedClaim(self, claim)

    def make_example_claims(self):
        self.make_claim("mnist-data", self.data_folder)
        for name in ("mnist-out", "mnist-local-out"):
            self.make_claim(name)

    # Jobs.

    def example(self, name):
        return os.path.join(programs.TREE, "examples", name + ".yaml")

    def apply_example(self, name):
        self.k("apply", "-f", self.example(name))

    # What is looked at often, without kubectl: each of its runs takes 50 ms of a core.

    def look(self, path):
        """The object; None: there is none."""
        text = self.cluster.look(path)
        return None if text is None else json.loads(text)

    def job(self, name, kind="tj"):
        job = self.look(jobs(self.namespace, kind, name))
        self.assertIsNotNone(job, f"{kind}/{name} in {self.namespace}")
        return job

    def status(self, name, kind="tj"):
        return self.job(name, kind).get("status", {})

    def step(self, name):
        return self.status(name).get("progress", {}).get("step", 0)

    def await_end(self, name, kind="tj", limit_s=LIMIT_S):
        """Its status, once it has Succeeded or Failed."""
        return self.wait_for(f"the end of {kind}/{name}", lambda: ended(self.status(name, kind)),
                             limit_s)

    def await_success(self, name, kind="tj", limit_s=LIMIT_S):
        status = self.await_end(name, kind, limit_s)
        self.assertEqual(status["state"], "Succeeded", status.get("message"))
        return status

    def steps_logged(self, pod):
        """How many lines about steps a trainer has written."""
        # 400: its container has not started.
        path = core(self.namespace, "pods", pod, "log")
        try:
            return (self.cluster.look(path) or "").count("step ")
        except AssertionError:
            return 0

    def await_training(self, name):
        self.wait_for(f"the first steps of {name}", lambda: self.steps_logged(f"{name}-chief-0"))

    def look_at_pod(self, name, namespace=None):
        return self.look(core(namespace or self.namespace, "pods", name))

    def pod_uid(self, name):
        pod = self.look_at_pod(name)
        return pod["metadata"]["uid"] if pod else ""

    def await_successor(self, pod, before):
        """The uid of the pod of that name that came after `before` and is ready."""

        def successor():
            uid = self.pod_uid(pod)
            return uid if uid and uid != before and self.is_running(pod) else None

        return self.wait_for(f"the successor of {pod}", successor)

    def is_running(self, name):
        pod = self.look_at_pod(name)
        return pod is not None and pod["status"].get("phase") == "Running"


def ended(status):
    return status if status.get("state") in ("Succeeded", "Failed") else None


def shell_pod(name, namespace, labels=None, script="exec sleep 3600"):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "spec": {
            "securityContext": POD_SECURITY,
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "shell",
                "image": SHELL_IMAGE,
                "command": ["sh", "-c", script],
                "securityContext": CONTAINER_SECURITY,
            }],
        },
    }


class MountedClaim:
    """A pod with a shell that has a claim mounted at /claim; gone after the block."""

    def __init__(self, scenario, claim):
        self.scenario = scenario
        self.claim = claim
        self.name = "look-at-" + claim

    def __enter__(self):
        pod = shell_pod(self.name, self.scenario.namespace)
        pod["spec"]["volumes"] = [{
            "name": "claim", "persistentVolumeClaim": {"claimName": self.claim},
        }]
        pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "claim", "mountPath": "/claim"}]
        self.scenario.kubectl.create(pod)
        self.scenario.wait_for(f"pod {self.name}", lambda: self.scenario.is_running(self.name))
        return self

    def __exit__(self, *_):
        self.scenario.k("delete", "pod", self.name, "--wait=false")

    def run(self, *command):
        return self.scenario.k("exec", self.name, "--", *command)

    def copy(self, folder):
        """The files in a folder of this machine to the claim."""
        self.scenario.kubectl("cp", folder + "/.", f"{self.scenario.namespace}/{self.name}:/claim")
