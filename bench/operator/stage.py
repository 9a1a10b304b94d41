"""A control plane and fake nodes of their own for one measurement, as e2e/cluster makes them.

Each measurement has a fresh one: an etcd that is fuller or an API server that has grown would be
slower for whoever comes later. Everybody under test is a service account without shares of its
own in the API server's flow control.

    with Stage(nodes=100, audited=("operator",)) as stage:
        client = stage.client("clients")
        stage.start("taas", [program, "--kubeconfig", stage.kubeconfig("operator")])
"""

import os

import api_client
import audit
import certificates
import fake_nodes
import programs
import usage
from cluster import Cluster
from component import Component
from control_plane import ControlPlane
from names import NAMESPACE, user
from sandbox import Sandbox
from waiting import until

ACCOUNTS = "system:serviceaccounts"
# By default it binds 50 pods a second, and whatever makes them sooner would gain nothing.
SCHEDULER = ("--kube-api-qps=1000", "--kube-api-burst=1000")


class Stage(Cluster):

    def __init__(self, nodes, audited=()):
        super().__init__(real_node=False, fake_nodes=nodes)
        self.audited = audited
        self.configs = {}

    def _start(self):
        keep = [programs.TREE, *map(programs.folder, programs.BUILT)]
        self.sandbox = Sandbox(self.instance, keep)
        authority = certificates.Authority(os.path.join(self.instance.work, "pki"))
        audited = audit.policy(users=map(user, self.audited))
        self.plane = ControlPlane(self.sandbox, self.instance.work, authority, audited,
                                  SCHEDULER)
        self.kubectl = self.plane.kubectl
        self.plane.start()
        self.kubectl.create({"apiVersion": "v1", "kind": "Namespace",
                             "metadata": {"name": NAMESPACE}}, binding())
        fake_nodes.start(self.plane, self.fake_nodes)
        until("the namespace's service account", lambda: self.kubectl.succeeds(
            "get", "serviceaccount", "default", "-n", NAMESPACE))

    @property
    def audit_log(self):
        return self.plane.audit_log

    def kubeconfig(self, name):
        if name not in self.configs:
            self.configs[name] = self.plane.identity(name, user(name), ACCOUNTS)
        return self.configs[name]

    def client(self, name):
        self.kubeconfig(name)
        authority = self.plane.authority
        return api_client.ApiClient(self.plane.server, authority.crt, authority.file(name + ".crt"),
                                    authority.file(name + ".key"))

    def cpu_s(self):
        """Of each program so far; whoever is under test is the operator, at each of its starts."""
        return {"operator" if name.startswith("operator-") else name:
                usage.cpu_s(component.pid()) for name, component in self.components.items()}

    def start(self, name, command):
        """A program under test, as one more component."""
        component = Component(self.sandbox, name, command, self.logs)
        component.start()
        self.components[name] = component
        return component


def binding():
    """Rights are checked for all of them, and none is refused."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "bench"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": ACCOUNTS}],
    }
