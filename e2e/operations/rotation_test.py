#!/usr/bin/python3
"""Tokens, authorities and certificates are replaced under an operator that runs, and that goes on.

The operator runs as in a pod: with the files that a kubelet puts there, in mounts of its own.
"""

import os
import shutil
import time
import unittest

import neighbours  # Before what it makes known.

import helm
from operator_scenario import ACCOUNT, USER, OperatorScenario, operator_arguments
from rotating_server import FIRST, RotatingServer, replace

POD_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
# In mounts of its own: the files of a pod's account where a pod has them.
AS_IN_A_POD = ["unshare", "--mount", "--", "/bin/sh", "-ec",
               f'mount -t tmpfs tmpfs /run && mkdir -p {POD_FOLDER} && '
               f'mount --bind "$0" {POD_FOLDER} && exec "$@"']
JOB = {
    "apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "steady"},
    "spec": {"roles": {"worker": {"replicas": 1, "template": {"spec": {"containers": [
        {"name": "trainer", "image": "own/image:1"}]}}}}},
}
POD = "steady-worker-0"
ANEW = "certificates changed, connections are made anew"


class PodFiles:
    """The files of an account in a pod, replaced as a kubelet does: all at once, by one link."""

    def __init__(self, folder):
        self.folder = folder
        self.number = 0
        os.mkdir(folder)

    def write(self, **files):
        self.number += 1
        version = f"..version-{self.number}"
        os.mkdir(os.path.join(self.folder, version))
        for name, text in files.items():
            name = name.replace("_", ".")
            with open(os.path.join(self.folder, version, name), "w", encoding="utf-8") as file:
                file.write(text)
            link = os.path.join(self.folder, name)
            if not os.path.islink(link):
                os.symlink(os.path.join("..data", name), link)
        os.symlink(version, os.path.join(self.folder, "..new"))
        os.replace(os.path.join(self.folder, "..new"), os.path.join(self.folder, "..data"))


class RotationTest(OperatorScenario):

    @classmethod
    def setUpClass(cls):
        cls.shared = RotatingServer()
        cls.addClassCleanup(cls.shared.stop)

    def setUp(self):
        self.serve(self.shared)
        if not self.server.names("crds"):
            self.install("defaults")
        self.began = time.time()
        self.log = self.server.path(self._testMethodName + ".log")
        self.addCleanup(self.server.kubectl, "delete", "tj,pod,service", "--all", "-n",
                        self.namespace, "--force", "--grace-period=0")

    def begin_job(self):
        self.create(JOB)
        self.run_pod(POD)

    def check_goes_on(self):
        """Whoever has lost its rights, or its connections, replaces no pod."""
        self.replace_killed(POD)
        self.assertIsNone(self.operator.poll(), "the operator ended:\n" + self.logged()[-2000:])

    def start_with_kubeconfig(self, case, **user):
        kubeconfig = self.server.write_json(self._testMethodName + ".kubeconfig", {
            "apiVersion": "v1", "kind": "Config", "current-context": "own",
            "clusters": [{"name": "own", "cluster": {
                "server": f"https://127.0.0.1:{self.server.port}",
                "certificate-authority": self.server.bundle}}],
            "users": [{"name": "own", "user": user}],
            "contexts": [{"name": "own", "context": {"cluster": "own", "user": "own"}}],
        })
        self.operator = self.start_operator(
            ["--kubeconfig", kubeconfig, *operator_arguments(case)])

    # Tokens.

    def make_token(self, name):
        """One that ends with the secret `name`, to which it is bound."""
        self.server.kubectl("create", "secret", "generic", name, "-n", helm.NAMESPACE)
        uid = self.server.get("secret", name, "-n", helm.NAMESPACE)["metadata"]["uid"]
        return self.server.kubectl(
            "create", "token", ACCOUNT, "-n", helm.NAMESPACE, "--bound-object-kind=Secret",
            f"--bound-object-name={name}", f"--bound-object-uid={uid}").strip()

    def credentials_since(self, moment):
        return {request.credential for request in self.server.requests_of(USER, moment)}

    def start_as_pod(self, token):
        self.files = PodFiles(self.server.path("pod-" + self._testMethodName))
        self.write_files(token)
        self.operator = self.start_operator(
            operator_arguments("defaults"), before=[*AS_IN_A_POD, self.files.folder],
            environ={"KUBERNETES_SERVICE_HOST": "127.0.0.1",
                     "KUBERNETES_SERVICE_PORT": str(self.server.port)})

    def write_files(self, token):
        with open(self.server.bundle, encoding="utf-8") as file:
            self.files.write(token=token, namespace=helm.NAMESPACE, ca_crt=file.read())

    def test_a_token_that_is_replaced_is_used_from_then_on_and_the_old_one_no_more(self):
        self.start_as_pod(self.make_token("first"))
        self.begin_job()
        (first,) = self.credentials_since(self.began)
        self.assertRegex(first, "^JTI=")
        self.write_files(self.make_token("second"))
        self.server.kubectl("delete", "secret", "first", "-n", helm.NAMESPACE)
        self.until("a request with the new token",
                   lambda: self.credentials_since(self.began) - {first})
        reached = time.time()
        self.check_goes_on()
        self.assertNotIn(first, self.credentials_since(reached))

    # Certificates.

    def times_anew(self):
        return self.logged().count(ANEW)

    def await_anew(self, times):
        self.until("new connections", lambda: self.times_anew() == times)

    def test_an_authority_and_the_server_s_certificate_are_replaced_bundle_first(self):
        with open(self.server.path("token"), "w", encoding="utf-8") as file:
            file.write(self.make_token("for-bundle"))
        self.start_with_kubeconfig("defaults", tokenFile=file.name)
        self.check_follows("next", self.server.write_bundle)

    def test_a_pod_follows_an_authority_that_is_replaced_among_its_files(self):
        token = self.make_token("of-pod")
        self.start_as_pod(token)

        def write(*authorities):
            self.server.write_bundle(*authorities)
            self.write_files(token)

        self.check_follows("of-pod", write)

    def check_follows(self, authority, write_bundle):
        self.begin_job()
        write_bundle(self.server.shown, authority)
        self.await_anew(1)
        self.server.serve_certificate_of(authority)
        self.check_goes_on()
        # Connections are made anew, and only the new authority can vouch for the server now.
        write_bundle(authority)
        self.await_anew(2)
        self.check_goes_on()
        self.assertNotIn("SSL handshake", self.logged())

    def test_a_bundle_that_comes_after_the_certificate_is_waited_for(self):
        with open(self.server.path("late-token"), "w", encoding="utf-8") as file:
            file.write(self.make_token("for-late"))
        # Without a lease, which it would lose meanwhile.
        self.start_with_kubeconfig("single-replica", tokenFile=file.name)
        self.begin_job()
        self.server.restart_with_certificate_of("late")
        self.until("a line that names the kubeconfig",
                   lambda: "is the server's certificate signed by" in self.logged())
        self.server.write_bundle("late")
        self.check_goes_on()

    def issue(self, name):
        """A client's certificate: its name is that of the operator's account."""
        return self.server.authority(FIRST).issue(name, USER, "system:serviceaccounts")

    def test_a_client_certificate_is_replaced_even_if_its_key_comes_later(self):
        crt, key = self.server.path("client.crt"), self.server.path("client.key")
        for source, target in zip(self.issue("client-1"), (crt, key)):
            shutil.copy(source, target)
        self.start_with_kubeconfig("defaults", **{"client-certificate": crt, "client-key": key})
        self.begin_job()
        (first,) = self.credentials_since(self.began)
        self.assertRegex(first, "^X509SHA256=")
        next_crt, next_key = self.issue("client-2")
        replace(next_crt, crt)
        self.until("a line about a certificate without its key",
                   lambda: "certificates not read again" in self.logged())
        self.assertEqual(self.credentials_since(self.began), {first})
        replace(next_key, key)
        self.until("a request with the new certificate",
                   lambda: self.credentials_since(self.began) - {first})
        reached = time.time()
        self.check_goes_on()
        self.assertNotIn(first, self.credentials_since(reached))


if __name__ == "__main__":
    unittest.main(verbosity=2)
