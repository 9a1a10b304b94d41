"""The operators that are measured, and the kind of job that each is measured with.

    taas = BY_NAME["taas-tfjob"]
    taas.install(stage)
    running = taas.start(stage).await_ready()
    running.pid, running.leads(), running.kill()
"""

import os
import urllib.request

import manifests
import peer
import programs
from names import NAMESPACE
from waiting import until

CRDS = [os.path.join(programs.TREE, "crds", name) for name in ("trainingjobs.yaml", "tfjobs.yaml")]
# The network namespace is the control plane's own.
FIRST_PORT = 18080
PAGE_LIMIT_S = 5
# What the peer's library says when its lists have arrived.
PEER_STARTED = "Starting workers"
TFJOBS = f"/apis/kubeflow.org/v1/namespaces/{NAMESPACE}/tfjobs"
TRAINING_JOBS = f"/apis/taas.dev/v1/namespaces/{NAMESPACE}/trainingjobs"


class Contestant:
    """One operator with one set of flags and one kind of job."""

    def __init__(self, name, manifest=manifests.tfjob, jobs_path=TFJOBS, container="tensorflow"):
        self.name = name
        self.manifest = manifest
        self.jobs_path = jobs_path
        self.container = container

    def install(self, stage):
        """The definitions of its kinds; ready for jobs on return."""
        for path in self.definitions():
            stage.kubectl("apply", "--server-side", "-f", path)
        for path in self.definitions():
            # Right after it was made it has no conditions yet, which `wait` calls an error.
            until(f"{path} to be established", lambda: stage.kubectl.succeeds(
                "wait", "--for=condition=Established", "-f", path))
        # Within two seconds after that the server lets every creation of such an object sleep for
        # two more; a cluster that has had the definition for longer does not.
        stage.client("installer").call(
            "POST", f"{self.jobs_path}?dryRun=All",
            self.manifest("first", NAMESPACE, manifests.roles(2)))

    def start(self, stage, number=0, elect=False):
        port = FIRST_PORT + number
        command = [*self.command(port, elect), f"--kubeconfig={stage.kubeconfig('operator')}"]
        return Running(self, stage.start(f"operator-{number}", command),
                       f"{stage.plane.address}:{port}")


class Taas(Contestant):

    def __init__(self, name, *flags, **job):
        super().__init__(name, **job)
        self.flags = flags

    def definitions(self):
        return CRDS

    def command(self, port, elect):
        election = ["--leader-elect", f"--lease-namespace={NAMESPACE}"] if elect else []
        pages = f"0.0.0.0:{port}"
        return [programs.ours("taas-operator"), *self.flags, f"--metrics-addr={pages}",
                f"--health-addr={pages}", *election]

    def is_ready(self, running):
        return running.page("/readyz").startswith("ok")

    def leads(self, metrics):
        return "\ntaas_operator_leader 1\n" in metrics


class Peer(Contestant):

    def __init__(self, name, *flags):
        super().__init__(name)
        self.flags = flags

    def definitions(self):
        return [peer.crd()]

    def command(self, port, elect):
        election = ["--leader-elect", f"--leader-election-namespace={NAMESPACE}"] if elect else []
        return [peer.program(), *self.flags, f"--metrics-bind-address=:{port}", *election]

    def is_ready(self, running):
        with open(running.component.log, encoding="utf-8", errors="replace") as log:
            return PEER_STARTED in log.read()

    def leads(self, metrics):
        return any(line.startswith("leader_election_master_status{") and line.endswith(" 1")
                   for line in metrics.splitlines())


class Running:
    """A process of a contestant."""

    def __init__(self, contestant, component, address):
        self.contestant = contestant
        self.component = component
        self.address = address

    @property
    def pid(self):
        return self.component.pid()

    def page(self, path):
        """Empty while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}",
                                        timeout=PAGE_LIMIT_S) as reply:
                return reply.read().decode()
        except OSError:
            return ""

    def await_ready(self):
        """Its first lists have arrived: a job that is made now is seen at once."""
        until(f"{self.contestant.name} to be ready",
              lambda: self.component.check() and self.contestant.is_ready(self), poll_s=0.05)
        return self

    def leads(self):
        """With leader election: whether it is this one that works."""
        return self.contestant.leads(self.page("/metrics"))

    def kill(self):
        self.component.kill()

    def stop(self):
        self.component.stop()

    def restart(self):
        self.component.start()


ALL = (
    Taas("taas-trainingjob", manifest=manifests.training_job, jobs_path=TRAINING_JOBS,
         container="trainer"),
    Taas("taas-perjob", "--tfjob-services=PerJob"),
    Taas("taas-tfjob"),
    Peer("peer-tuned", *peer.TUNED),
    Peer("peer-default"),
)
BY_NAME = {contestant.name: contestant for contestant in ALL}
