"""The operator as the chart starts it, on an API server without a node: the test plays the kubelet.

    class MyTest(OperatorScenario):
        def setUp(self):
            self.serve(ApiServer())
            self.install("single-replica")
            self.start_operator(["--kubeconfig", path, *operator_arguments("single-replica")])
"""

import json
import os
import subprocess
import time
import unittest

import helm

ACCOUNT = "taas-operator"
USER = f"system:serviceaccount:{helm.NAMESPACE}:{ACCOUNT}"
# What the operator does within milliseconds, on a loaded machine.
PATIENCE_S = 60
POLL_S = 0.1
LOG_TAIL = 2000


def operator_program():
    return helm.program("taas-operator", "TAAS_BIN", os.path.join(helm.ROOT, "bin"))


def operator_arguments(case, *others, settings=()):
    """Those of the rendered Deployment but for `others`, and on any free port of loopback."""
    (deployment,) = helm.of_operator(helm.rendered(case, *settings), "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    others = ("--health-addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0", *others)
    told = {argument.split("=")[0]: argument for argument in (*container["args"], *others)}
    return list(told.values())


class OperatorScenario(unittest.TestCase):

    namespace = "default"

    def serve(self, server):
        self.server = server
        self.log = server.path("operator.log")

    def install(self, case, *settings):
        helm.run("install", helm.RELEASE, helm.CHART, "-n", helm.NAMESPACE, "--create-namespace",
                 "--values", helm.values_file(case), *settings, kubeconfig=self.server.kubeconfig)

    def start_operator(self, arguments, before=(), environ=()):
        """Its process. `before` is put before its program, `environ` beside its PATH."""
        with open(self.log, "ab") as log:
            operator = subprocess.Popen(
                [*before, operator_program(), *arguments], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **dict(environ)})
        self.addCleanup(operator.wait)
        self.addCleanup(operator.terminate)
        return operator

    def logged(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def until(self, what, holds):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found = holds()
            if found:
                return found
            time.sleep(POLL_S)
        raise AssertionError(f"{what}: not within {PATIENCE_S} s\n{self.logged()[-LOG_TAIL:]}")

    def create(self, *objects):
        self.server.kubectl("create", "-n", self.namespace, "-f", "-", text=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def object(self, kind, name):
        """As it is on the server, or None."""
        code, out, _ = self.server.kubectl("get", kind, name, "-n", self.namespace, "-o", "json",
                                           check=False)
        return json.loads(out) if code == 0 else None

    def pod(self, name):
        return self.object("pod", name)

    def set_status(self, name, phase, state):
        """What a kubelet says of the pod; its uid."""
        pod = self.until(f"pod {name}", lambda: self.pod(name))
        spec = pod["spec"]["containers"][0]
        status = {"phase": phase, "containerStatuses": [{
            "name": spec["name"], "image": spec["image"], "imageID": "", "restartCount": 0,
            "ready": phase == "Running", "state": state}]}
        self.server.kubectl("patch", "pod", name, "-n", self.namespace, "--subresource=status",
                            "--type=merge", "-p", json.dumps({"status": status}))
        return pod["metadata"]["uid"]

    def run_pod(self, name):
        return self.set_status(name, "Running", {"running": {"startedAt": "2030-01-01T00:00:00Z"}})

    def end_pod(self, name, code):
        return self.set_status(name, "Failed" if code else "Succeeded",
                               {"terminated": {"exitCode": code}})

    def replace_killed(self, name):
        """The pod is killed, and the operator makes the next one."""
        killed = self.end_pod(name, 137)
        self.until(f"a new pod {name}", lambda: (self.pod(name) or {"metadata": {"uid": killed}})
                   ["metadata"]["uid"] != killed)
        self.run_pod(name)
