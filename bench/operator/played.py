"""A cluster of an API server alone, whose pods are played: each runs as soon as it is seen.

    with api_server.ApiServer() as server:
        with played.operator(server, "bin/taas-operator") as running, \
                played.Cluster(played.client(server), "bench", "trainer") as pods:
            …
            pods.end(["job-chief-0"])       they end with 0
"""

import contextlib
import os
import queue
import subprocess
import threading
import urllib.request

import api_client
import api_server
import manifests
import observer
import programs
from waiting import until

# Where set-up has them, unless somebody says another folder.
os.environ.setdefault("TAAS_KUBERNETES_BIN", programs.folder("kubernetes"))

# They write what kubelets would; an API server of two cores has enough to do with as many.
HANDS = 6
OPERATOR_LIMIT_S = 60


def client(server):
    found = api_client.ApiClient(f"https://127.0.0.1:{server.port}", server.ca, None, None)
    found.headers = {"Authorization": "Bearer " + api_server.TOKEN}
    return found


def install(server, contestant):
    for path in contestant.definitions():
        server.kubectl("apply", "--server-side", "-f", path)
        server.kubectl("wait", "--for=condition=Established", "-f", path)


@contextlib.contextmanager
def operator(server, program, *flags):
    """It has its first lists."""
    (port,) = api_server.free_ports(1)
    pages = f"127.0.0.1:{port}"
    log = open(server.path("operator.log"), "wb")
    process = subprocess.Popen(
        [program, f"--kubeconfig={server.kubeconfig}", f"--metrics-addr={pages}",
         f"--health-addr={pages}", *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until("the operator to be ready", lambda: ready(port), OPERATOR_LIMIT_S, poll_s=0.05)
        yield process
    finally:
        api_server.end(process)
        log.close()


def ready(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


def running(container):
    return {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                       "containerStatuses": [{
                           "name": container, "image": manifests.IMAGE, "imageID": "",
                           "ready": True, "restartCount": 0,
                           "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}


class Cluster(observer.PodObserver):

    def __init__(self, api, namespace, container):
        super().__init__(api, namespace)
        self.container = container
        self.waiting = queue.SimpleQueue()
        self.hands = [threading.Thread(target=self._play, daemon=True) for _ in range(HANDS)]

    def __enter__(self):
        for hand in self.hands:
            hand.start()
        return super().__enter__()

    def __exit__(self, *_):
        for _ in self.hands:
            self.waiting.put(None)

    def note(self, kind, name, status, now):
        known = name in self.created and self.exists(name)
        super().note(kind, name, status, now)
        if kind == "ADDED" and not known:
            self.waiting.put((name, running(self.container)))

    def end(self, pods):
        for pod in pods:
            self.waiting.put((pod, manifests.succeeded(self.container)))

    def _play(self):
        while (item := self.waiting.get()) is not None:
            name, status = item
            try:
                self.client.call("PATCH", f"{self.path}/{name}/status", status,
                                 api_client.MERGE_PATCH)
            except api_client.Refused as error:
                if error.code != 404:  # It has gone meanwhile.
                    with self.changed:
                        self.failure = error
                        self.changed.notify_all()
