"""A whole Kubernetes of its own for tests: control plane, a real node, fake nodes.

    with Cluster(real_node=True, fake_nodes=0) as cluster:
        cluster.kubectl("get", "nodes")
        cluster.components["kube-apiserver"].restart()

Nothing of it is seen by others on the machine, several run side by side, and however this process
ends nothing stays behind but, after a failure, a folder with the logs of all components.

Ownership: the object owns processes, namespaces, cgroups and a temporary folder. Threads: one.
Errors: a RuntimeError with the log of the program that failed.
"""

import os
import shutil
import tempfile
import time

import busybox_image
import certificates
import dns
import fake_nodes
import programs
import volumes
from control_plane import ControlPlane
from direct_api import Api
from instance import Instance
from node import PAUSE_IMAGE, Node
from sandbox import Sandbox

# The name that examples/own-image.yaml has; there is no registry to pull it from.
SHELL_IMAGE = "busybox:1.37"
SHELL_NAMES = (PAUSE_IMAGE, "docker.io/library/" + SHELL_IMAGE)
# All tests that have a real node need a few GB in the end: images, claims, logs. With less than
# this nothing of it would work.
DISK_BYTES_MIN = 10 ** 9


def check_room(folder):
    """Containers on a full disk fail in ways that do not tell why."""
    free = shutil.disk_usage(folder).free
    if free < DISK_BYTES_MIN:
        raise RuntimeError(
            f"the disk of {folder} has {free / 10 ** 9:.1f} GB left and a node needs "
            f"{DISK_BYTES_MIN / 10 ** 9:.0f} GB: remove what is not needed there, such as "
            "taas-e2e-logs-* of earlier runs, or let TMPDIR name a folder on another disk")


class Cluster:

    # Sets of programs that it starts.
    built = tuple(programs.BUILT)

    def __init__(self, real_node=True, fake_nodes=0, fake_lease_s=fake_nodes.LEASE_S):
        self.real_node = real_node
        self.fake_nodes = fake_nodes
        self.fake_lease_s = fake_lease_s
        self.node = None
        self.logs_kept = None

    @property
    def offers(self):
        """What scenarios may need; see scenario.py."""
        nodes = {"node": self.real_node, "fake nodes": self.fake_nodes > 0}
        return ("components", *(name for name, there in nodes.items() if there))

    def description(self):
        fakes = f"{self.fake_nodes} nodes of kwok"
        return self.node.description() if self.node is not None else fakes

    @property
    def kubeconfig(self):
        return self.plane.kubeconfig

    @property
    def components(self):
        return self.plane.components

    @property
    def logs(self):
        return os.path.join(self.instance.work, "logs")

    def look(self, path):
        """The text that the API server has there; None: there is nothing."""
        return self.api.look(path)

    def make_namespace(self, namespace):
        self.api.done("POST", "/api/v1/namespaces", namespace)

    def drop_namespace(self, name):
        """It goes by and by."""
        self.api.done("DELETE", "/api/v1/namespaces/" + name)

    def __enter__(self):
        began = time.monotonic()
        self.instance = Instance()
        self.sandbox = None
        try:
            os.mkdir(self.logs)
            if self.real_node:
                check_room(self.instance.work)
            self._start()
        except BaseException as error:
            self.__exit__(type(error))
            raise
        self.seconds_to_start = time.monotonic() - began
        return self

    def _start(self):
        keep = [programs.TREE, *map(programs.folder, self.built)]
        self.sandbox = Sandbox(self.instance, keep)
        authority = certificates.Authority(os.path.join(self.instance.work, "pki"))
        self.plane = ControlPlane(self.sandbox, self.instance.work, authority)
        self.kubectl = self.plane.kubectl
        self.plane.start()
        self.api = Api(self.kubeconfig)
        if self.real_node:
            self.node = Node(self.plane)
            self.node.start()
            dns.start(self.plane)
            self.node.import_image(busybox_image.write(
                os.path.join(self.instance.work, "busybox.tar"), SHELL_NAMES))
            volumes.make_pool(self.kubectl, os.path.join(self.instance.work, "volumes"))
        if self.fake_nodes:
            fake_nodes.start(self.plane, self.fake_nodes, self.fake_lease_s)
        if self.real_node:
            dns.await_ready(self.plane)
            self.node.await_ready()

    def keep_logs(self):
        """Copies all logs to where they outlive the cluster; the folder."""
        if self.logs_kept is None:
            parent = os.environ.get("E2E_LOGS") or tempfile.gettempdir()
            os.makedirs(parent, exist_ok=True)
            self.logs_kept = tempfile.mkdtemp(prefix="taas-e2e-logs-", dir=parent)
        for source in (self.logs, os.path.join(self.instance.work, "var-log-pods")):
            if os.path.isdir(source):
                shutil.copytree(source, os.path.join(self.logs_kept, os.path.basename(source)),
                                symlinks=True, dirs_exist_ok=True)
        return self.logs_kept

    def __exit__(self, kind=None, *_):
        # Whoever ends it by Ctrl-C knows why it ended.
        if kind is not None and not issubclass(kind, KeyboardInterrupt):
            self.keep_logs()
        if self.sandbox is not None:
            self.sandbox.close()
        self.instance.__exit__()
        if self.logs_kept is not None:
            print(f"logs of all components: {self.logs_kept}", flush=True)
