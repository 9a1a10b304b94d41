#!/usr/bin/python3
"""The dashboard of the chart, over HTTP, as somebody who may edit one namespace: a job is made,
watched, suspended, resumed, scaled and deleted; one whose image does not exist is told of.

Part of `make e2e`.
"""

import json
import urllib.error
import urllib.request

import taas
from dashboard_scenario import PERSON, DashboardScenario

STEPS = 2_000_000


def manifest(name, namespace, **spec):
    return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob",
            "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def small(cpu="100m", memory="256Mi"):
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": "1", "memory": memory}}


class DashboardTest(DashboardScenario):

    def setUp(self):
        super().setUp()
        self.bearer = self.token()

    def ask(self, method, path, body=None, token=None):
        """(code, answer), the answer as JSON where it is some."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("Authorization", "Bearer " + (token or self.bearer))
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                code, text = reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read().decode()
        try:
            return code, json.loads(text)
        except ValueError:
            return code, text

    def detail(self, name):
        code, answer = self.ask("GET", f"api/jobs/{self.namespace}/trainingjobs/{name}")
        return answer if code == 200 else {}

    def await_detail(self, name, what, is_so):
        return self.wait_for(f"{name} {what}", lambda: is_so(self.detail(name)))

    def test_a_job_from_its_submission_to_its_end(self):
        code, page = self.ask("GET", "jobs/any/trainingjobs/where")
        self.assertEqual(code, 200)
        self.assertIn('<base href="../../../"', page)
        _, session = self.ask("GET", "api/session")
        self.assertEqual(session["user"], f"system:serviceaccount:{self.namespace}:{PERSON}")

        job = manifest("shown", self.namespace, trainer={
            "model": {"name": "softmax"}, "data": {"format": "generated"}, "maxSteps": STEPS},
            roles={role: {"replicas": 1, "resources": small()}
                   for role in ("chief", "ps", "worker")})
        code, answer = self.ask("POST", "api/jobs?dryRun=true", job)
        self.assertEqual(code, 201, answer)
        self.assertEqual(self.detail("shown"), {})
        code, answer = self.ask("POST", "api/jobs", job)
        self.assertEqual(code, 201, answer)
        self.await_detail("shown", "trains", lambda seen: seen.get("progress", {}).get("step"))
        seen = self.detail("shown")
        self.assertEqual({(it["role"], it["state"]) for it in seen["replicas"]},
                         {(role, "Running") for role in ("chief", "ps", "worker")})
        self.assertTrue(seen["access"]["update"] and seen["access"]["logs"])

        path = f"api/jobs/{self.namespace}/trainingjobs/shown"
        self.wait_for("curves", lambda: self.ask("GET", path + "/series")[1]["series"].get("loss"))
        _, logs = self.ask("GET", path + "/logs?tail=50")
        lines = [json.loads(line) for line in logs.splitlines()]
        self.assertEqual({line["r"] for line in lines if "l" in line},
                         {"chief-0", "ps-0", "worker-0"})
        # Somebody who may not list nodes is told so, and sees no other's.
        _, gpus = self.ask("GET", "api/gpus")
        self.assertFalse(gpus["nodesVisible"])

        self.assertEqual(self.ask("PATCH", path, {"suspend": True})[0], 200)
        self.await_detail("shown", "is suspended", lambda it: it.get("state") == "Suspended")
        self.assertEqual(self.ask("PATCH", path, {"suspend": False, "workers": 2})[0], 200)
        self.await_detail("shown", "runs with two workers", lambda it: [
            role["ready"] for role in it["roles"]] == [1, 1, 2])
        self.assertEqual(self.ask("DELETE", path)[0], 200)
        self.wait_for("the job to be gone", lambda: self.ask("GET", path)[0] == 404)

    def test_a_job_that_cannot_start_is_critical_and_says_why(self):
        container = {"name": "trainer", "image": "taas/none:1", "resources": small(),
                     "securityContext": {"allowPrivilegeEscalation": False,
                                         "capabilities": {"drop": ["ALL"]}}}
        pod = {"containers": [container],
               "securityContext": {"runAsNonRoot": True, "runAsUser": 65532,
                                   "seccompProfile": {"type": "RuntimeDefault"}}}
        job = manifest("no-image", self.namespace,
                       roles={"worker": {"replicas": 1, "template": {"spec": pod}}})
        self.assertEqual(self.ask("POST", "api/jobs", job)[0], 201)
        self.await_detail("no-image", "is critical", lambda it: (
            it.get("health"), it.get("healthReason")) == ("critical", "ImagePull"))
        self.await_detail("no-image", "names the image", lambda it: "taas/none:1" in it["message"])

    def test_who_may_do_nothing_sees_nothing(self):
        self.k("create", "serviceaccount", "stranger")
        token = self.k("create", "token", "stranger").strip()
        self.assertEqual(self.ask("GET", "api/jobs", token=token)[1], {"jobs": []})
        job = manifest("not-mine", self.namespace, roles={"worker": {"replicas": 1}})
        code, answer = self.ask("POST", "api/jobs", job, token=token)
        self.assertEqual((code, answer["error"]["reason"]), (403, "Forbidden"))
        self.assertEqual(self.ask("GET", "api/jobs", token="nobody")[0], 401)
