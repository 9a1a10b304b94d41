"""A control plane to be broken: nodes of kwok, and the operator as a process of its sandbox.

What is stopped, frozen or taken away here is missed by no other test. It is started when the first
test wants it and ends with the run. The operator has the account, its groups and the rights of the
chart, and so stands in the API server's record; it is started before there are definitions of the
two kinds.

    cluster = fault_cluster.shared("faults", stack)
    cluster.operator.freeze()
    other = cluster.start_operator("other", "--namespaces=mine", account="somebody")
"""

import glob
import itertools
import os
import urllib.request

import audit
import direct_api
import programs
import rights
import taas
from cluster import Cluster
from component import Component
from waiting import until

NODES = 4
# kwok's nodes renew every 2 s, so that a node may be found lost within some seconds.
LEASE_S = 8
# What the account's token would say of it. OpenSSL takes several organisations as one subject.
GROUPS = "/O=".join(("system:serviceaccounts", "system:serviceaccounts:" + taas.NAMESPACE))
# In the sandbox's own network nobody else listens.
METRICS_PORTS = itertools.count(9100)


class Operator(Component):
    """A running operator. Started once: that it ended is what tests look for."""

    def __init__(self, plane, name, account, flags):
        self.metrics = f"http://{plane.address}:{next(METRICS_PORTS)}/metrics"
        port = self.metrics.rpartition(":")[2].partition("/")[0]
        groups = GROUPS if account == taas.USER else None
        command = [programs.ours("taas-operator"),
                   "--kubeconfig", plane.identity("operator-" + name, account, groups),
                   "--metrics-addr=0.0.0.0:" + port, "--health-addr=127.0.0.1:0", *flags]
        super().__init__(plane.sandbox, "operator-" + name, command,
                         os.path.join(plane.work, "logs"))

    def log_text(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def values(self, name):
        """The values of a metric, by its labels as they are written."""
        with urllib.request.urlopen(self.metrics, timeout=direct_api.TIMEOUT_S) as page:
            lines = page.read().decode().splitlines()
        found = {}
        for line in lines:
            if line.startswith((name + "{", name + " ")):
                labels, _, value = line[len(name):].rpartition(" ")
                found[labels] = float(value)
        return found

    def requests(self, code=""):
        """How many it has sent; `code` "0": that got no reply."""
        return sum(value for labels, value in self.values("taas_api_requests_total").items()
                   if not code or f'code="{code}"' in labels)

    def cpu_seconds(self):
        with open(f"/proc/{self.pid()}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class FaultCluster(Cluster):

    lease_s = LEASE_S
    # Of the first operator, and the chart's values that give it the rights for them.
    flags = ()
    values = ()

    def __init__(self):
        super().__init__(real_node=False, fake_nodes=NODES, fake_lease_s=self.lease_s)

    def _start(self):
        super()._start()
        self._prepare()
        self._grant()
        self.operator = self.start_operator("main", *self.flags)
        until("the operator to look for the definitions", lambda: self.operator.check() and
              self.operator.log_text().count("does not have this kind") == 2)
        self.define()

    def _prepare(self):
        """What is there before the operator."""

    def _grant(self):
        """The chart's account and roles, without what would run."""
        self.kubectl.apply(taas.namespace(taas.NAMESPACE, "restricted"))
        rendered = self.kubectl.run(
            programs.path("helm"), "template", taas.RELEASE, taas.CHART, "--namespace",
            taas.NAMESPACE, "--show-only=templates/rbac.yaml",
            "--show-only=templates/serviceaccount.yaml",
            *(f"--set={value}" for value in self.values)).stdout
        self.kubectl("apply", "--namespace", taas.NAMESPACE, "-f", "-", stdin=rendered)
        self.granted = rights.of_operator(rendered)

    def asked_without_right(self):
        """Of all that operators with the chart's account asked for here."""
        return rights.uncovered(self.granted, audit.requests(self.plane.audit_log, taas.USER))

    def define(self):
        """Both kinds, as the tree has them."""
        for path in sorted(glob.glob(os.path.join(programs.TREE, "crds", "*.yaml"))):
            self.kubectl("apply", "--server-side", "-f", path)
        until("both kinds to be served", lambda: all(
            self.api("GET", path).code == 200 for path in direct_api.GROUPS.values()))

    def start_operator(self, name, *flags, account=taas.USER):
        operator = Operator(self.plane, name, account, flags)
        operator.start()
        return operator


_shared = {}


def shared(lane, stack):
    """That of the tests of a lane, of which one runs at a time."""
    if lane not in _shared:
        _shared[lane] = stack.enter_context(FaultCluster())
        print(f"cluster of lane {lane} up after {_shared[lane].seconds_to_start:.1f} s", flush=True)
    return _shared[lane]


def started():
    return list(_shared.values())
