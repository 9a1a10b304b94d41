"""A cluster that somebody else keeps, with the images where its nodes find them.

    with ExistingCluster("/path/to/kubeconfig") as cluster:
        cluster.kubectl("get", "nodes")
"""

import os
import tempfile

import programs
from kubectl import CommandFailed, Kubectl


class ExistingCluster:

    offers = ()
    node = None

    def __init__(self, kubeconfig):
        self.kubeconfig = os.path.abspath(kubeconfig)
        self.logs_kept = None

    def __enter__(self):
        parent = os.environ.get("E2E_LOGS") or tempfile.gettempdir()
        os.makedirs(parent, exist_ok=True)
        self.logs = tempfile.mkdtemp(prefix="taas-e2e-logs-", dir=parent)
        self.home = tempfile.TemporaryDirectory(prefix="taas-e2e-home-")
        self.kubectl = Kubectl(self.kubeconfig, self.home.name)
        return self

    def look(self, path):
        """As of a cluster of our own; kubectl alone knows how to speak with somebody else's."""
        command = [programs.path("kubectl"), "get", "--raw", path]
        done = self.kubectl.run(*command, check=False)
        if done.returncode == 0:
            return done.stdout
        if "(NotFound)" in done.stderr:
            return None
        raise CommandFailed(command, done)

    def make_namespace(self, namespace):
        self.kubectl.create(namespace)

    def drop_namespace(self, name):
        self.kubectl("delete", "namespace", name, "--wait=false")

    def keep_logs(self):
        self.logs_kept = self.logs
        return self.logs

    def description(self):
        lines = self.kubectl("get", "nodes", "--no-headers").splitlines()
        return "\n".join(f"node {line.split()[0]}: kubelet {line.split()[4]}" for line in lines)

    def __exit__(self, kind=None, *_):
        self.home.cleanup()
        if kind is None and self.logs_kept is None:
            os.rmdir(self.logs)
        else:
            print(f"what the tests left: {self.logs}", flush=True)
