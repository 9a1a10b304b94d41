#!/usr/bin/python3
"""What is secret, or may be, stands in no log line, event or metric, at the most verbose level."""

import base64
import copy
import json
import subprocess
import unittest
import urllib.request

import neighbours  # Before what it makes known.

import certificates
import helm
from api_server import ApiServer, free_ports
from install_test import FOREIGN_TFJOB
from operator_scenario import (ACCOUNT, USER, OperatorScenario, operator_arguments,
                               operator_program)

# In every value that is somebody's own; what is around it may be told.
MARK = "s3cr3t-0f-th3-us3r"
LIMIT_S = 60


def secretive(container, image="own/image:1"):
    """A template that has the mark wherever a user may put what nobody else should read."""
    return {
        "metadata": {"annotations": {"example.com/login": MARK}},
        "spec": {
            "imagePullSecrets": [{"name": "registry-login"}],
            "containers": [{
                "name": container, "image": image, "command": ["train", "--password", MARK],
                "args": [f"--login={MARK}"],
                "env": [{"name": "PASSWORD", "value": MARK}],
                "envFrom": [{"secretRef": {"name": "registry-login"}}],
            }],
        },
    }


def training_job(name, template, **more):
    return {
        "apiVersion": "taas.dev/v1", "kind": "TrainingJob",
        "metadata": {"name": name, "annotations": {"example.com/token": MARK}},
        "spec": {"roles": {"worker": {"replicas": 1, "template": template}}, **more},
    }


def tf_job(name, template):
    return {
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
        "metadata": {"name": name, "annotations": {"example.com/token": MARK}},
        "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 1, "restartPolicy": "ExitCode",
                                               "template": template}}},
    }


def changed(template, **fields):
    """A copy with other fields of the container."""
    template = copy.deepcopy(template)
    template["spec"]["containers"][0].update(fields)
    return template


class SecretsTest(OperatorScenario):

    def setUp(self):
        server = ApiServer()
        self.addCleanup(server.stop)
        self.serve(server)
        self.authority = certificates.Authority(server.path("pki"))

    def install_beside_a_kind_without_rules(self):
        """TFJobs as an earlier operator's definition takes them: nobody has looked at them."""
        definition = copy.deepcopy(FOREIGN_TFJOB)
        definition["spec"]["versions"][0]["subresources"] = {"status": {}}
        self.server.kubectl("create", "-f", "-", text=json.dumps(definition))
        self.install("single-replica")
        self.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "registry-login"},
                     "stringData": {"password": MARK}})

    def kubeconfig(self, **user):
        return self.server.write_json("secretive.kubeconfig", {
            "apiVersion": "v1", "kind": "Config", "current-context": "own",
            "clusters": [{"name": "own", "cluster": {
                "server": f"https://127.0.0.1:{self.server.port}",
                "certificate-authority": self.server.ca}}],
            "users": [{"name": "own", "user": user}],
            "contexts": [{"name": "own", "context": {"cluster": "own", "user": "own"}}],
        })

    def key_of_a_client(self):
        """Certificate and key, in base64 as a kubeconfig has them, and what must not be told."""
        parts = []
        for path in self.authority.issue("client", "somebody"):
            with open(path, "rb") as file:
                parts.append(file.read())
        secret = parts[1].decode().splitlines()[1]
        return [base64.b64encode(part).decode() for part in parts], secret

    def start_verbose(self):
        self.token = self.server.kubectl("create", "token", ACCOUNT, "-n", helm.NAMESPACE).strip()
        (crt, key), self.key = self.key_of_a_client()
        (self.metrics_port,) = free_ports(1)
        kubeconfig = self.kubeconfig(**{"token": self.token, "client-certificate-data": crt,
                                        "client-key-data": key})
        self.operator = self.start_operator(
            ["--kubeconfig", kubeconfig, *operator_arguments(
                "single-replica", "--log-level=debug",
                f"--metrics-addr=127.0.0.1:{self.metrics_port}")])
        self.until("the operator's first line", lambda: "operator started" in self.logged())

    def message(self, kind, name):
        return (self.object(kind, name) or {}).get("status", {}).get("message", "")

    def await_message(self, kind, name, words):
        self.until(f"{words!r} in the message of {kind}/{name}",
                   lambda: words in self.message(kind, name))

    def live_badly(self):
        """Everything goes wrong that is told of."""
        good, tf = secretive("trainer"), secretive("tensorflow")
        self.create(
            training_job("life", good), training_job("taken", good), tf_job("tf-life", tf),
            training_job("refused", changed(good, env=[
                {"name": "PASSWORD", "value": MARK},
                {"name": "BOTH", "value": MARK, "valueFrom": {"fieldRef": {
                    "fieldPath": "metadata.name"}}}])),
            tf_job("flawed-env", changed(tf, env=[{"name": "PASSWORD", "value": {"is": MARK}}])),
            tf_job("flawed-args", changed(tf, args=MARK)),
            tf_job("flawed-ports", changed(tf, ports=MARK)),
            tf_job("flawed-template", MARK))
        for pod in ("life-worker-0", "tf-life-worker-0"):
            self.run_pod(pod)
            self.replace_killed(pod)
            self.end_pod(pod, 1)
        for kind, name in (("tj", "life"), ("tfjob", "tf-life")):
            self.until(f"the end of {name}", lambda: self.object(kind, name).get("status", {})
                       .get("state") == "Failed")
        self.await_message("tj", "refused", "valueFrom")
        self.await_message("tj", "taken", "taken-worker-0")
        for name in ("flawed-env", "flawed-args", "flawed-ports", "flawed-template"):
            self.until(f"what is wrong with {name}", lambda: self.message("tfjob", name))

    def test_no_value_of_a_job_and_no_credential_is_told(self):
        self.install_beside_a_kind_without_rules()
        self.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "taken-worker-0"},
                     "spec": {"containers": [{"name": "own", "image": "own", "env": [
                         {"name": "PASSWORD", "value": MARK}]}]}})
        self.start_verbose()
        self.live_badly()
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics",
                                      timeout=LIMIT_S).read().decode()
        events = [request.body for request in self.server.requests_of(USER)
                  if request.resource == "events"]
        told = {"log": self.logged(), "metrics": page, "events": json.dumps(events)}
        # They do tell of these jobs.
        self.assertIn("life-worker-0", told["log"])
        self.assertIn('taas_restarts_total{cause="killed",', told["metrics"])
        self.assertIn("NameConflict", told["events"])
        for name, text in told.items():
            for secret in (MARK, self.token, self.token.rsplit(".", 1)[1], self.key):
                self.assertNotIn(secret, text, name)

    def test_a_kubeconfig_that_is_wrong_is_not_quoted(self):
        (crt, key), _ = self.key_of_a_client()
        marked = base64.b64encode(MARK.encode()).decode()
        empty = self.server.path("empty")
        with open(empty, "w", encoding="utf-8"):
            pass
        cases = {
            "is not base64": {"client-certificate-data": crt, "client-key-data": "!" + marked},
            "no valid PEM": {"client-certificate-data": crt, "client-key-data": marked},
            "must be given together": {"client-key-data": key},
            "is empty": {"token": MARK, "tokenFile": empty},
            "is not supported": {"username": "me", "password": MARK},
        }
        for words, user in cases.items():
            with self.subTest(words):
                done = subprocess.run(
                    [operator_program(), "--log-level=debug", "--kubeconfig",
                     self.kubeconfig(**user)], env={"PATH": "/usr/bin:/bin"}, text=True,
                    check=False, timeout=LIMIT_S, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stdout)
                for secret in (MARK, marked, key):
                    self.assertNotIn(secret, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
