#!/usr/bin/python3
"""Private memory of operator and dashboard while jobs of one pod come and go, 50 at a time.

  bench/operator/memory.py [--jobs 10000] [--first 1000] [--alive 50] [--kind TFJob] OPERATOR
  bench/operator/memory.py --local TAAS […]      the whole of `taas local up`, whose pods are real

Each job runs until as many younger ones as may live run, too; then it is deleted. What is compared
is the memory after the first and after all jobs: what grows meanwhile is of jobs that are gone.
The API server, and without --local what a cluster has beside it, are as in burst.py.
"""

import argparse
import base64
import collections
import contextlib
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(os.path.dirname(os.path.dirname(HERE)), "e2e")
sys.path[:0] = [HERE, os.path.join(E2E, "cluster"), os.path.join(E2E, "chart")]
sys.dont_write_bytecode = True

import api_client
import api_server
import contestants
import figures
import names
import observer
import played
import table
import usage
from waiting import until

KINDS = {"TrainingJob": "taas-trainingjob", "TFJob": "taas-tfjob"}
# What may be held of jobs that are gone: caches that fill up, pieces of a heap.
GROWTH_SHARE, GROWTH_MB = 0.05, 2
# After the last job: what is to be let go has been.
CALM_S = 5
REPORTS = 10
LOCAL_LIMIT_S = 120


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", metavar="PROGRAM", help="taas-operator, or taas with --local")
    parser.add_argument("--local", action="store_true", help="measure `taas local up`")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=1_000, help="what all are compared with")
    parser.add_argument("--alive", type=int, default=50)
    parser.add_argument("--kind", choices=KINDS, default="TrainingJob")
    return parser.parse_args()


def sleeping(manifest):
    """The same job with a program that is there on every machine."""
    spec = manifest["spec"]
    for role in spec.get("tfReplicaSpecs", spec.get("roles")).values():
        (container,) = role["template"]["spec"]["containers"]
        container["command"] = ["sleep", "100000"]
        del role["template"]["spec"]["tolerations"]
    return manifest


class Jobs:
    """Comes and goes through the API, however many there were."""

    def __init__(self, client, contestant, namespace, pods, collect):
        self.client = client
        self.contestant = contestant
        self.path = contestant.jobs_path.replace(names.NAMESPACE, namespace)
        self.namespace = namespace
        self.pods = pods
        self.collect = collect  # Nobody does where there is no controller manager.
        self.living = collections.deque()
        self.made = 0

    def make(self):
        name = f"m{self.made:06d}"
        manifest = sleeping(self.contestant.manifest(name, self.namespace, {"Worker": 1}))
        self.client.call("POST", self.path, manifest)
        self.living.append(name)
        self.made += 1
        return name

    def drop(self):
        name = self.living.popleft()
        pod = f"{name}-worker-0"
        self.pods.until(f"{pod} to run", lambda: pod in self.pods.running)
        self.client.call("DELETE", f"{self.path}/{name}",
                         {"propagationPolicy": "Background"})
        if self.collect:
            core = f"/api/v1/namespaces/{self.namespace}"
            self.client.call("DELETE", f"{core}/pods/{pod}", {"gracePeriodSeconds": 0})
            for service in self.services(name):
                self.client.call("DELETE", f"{core}/services/{service}")
        for seen in (self.pods.created, self.pods.running, self.pods.gone):
            seen.pop(pod, None)

    def services(self, name):
        selector = f"labelSelector=taas.dev/job-name%3D{name}"
        found = self.client.call("GET", f"/api/v1/namespaces/{self.namespace}/services?{selector}")
        return [item["metadata"]["name"] for item in found["items"]]

    def come_and_go(self, until_made, alive):
        while self.made < until_made:
            self.make()
            while len(self.living) > alive:
                self.drop()


@contextlib.contextmanager
def cluster_of(args):
    """(Jobs, {name: pid})"""
    contestant = contestants.BY_NAME[KINDS[args.kind]]
    with api_server.ApiServer() as server:
        client = played.client(server)
        server.kubectl("create", "namespace", names.NAMESPACE)
        played.install(server, contestant)
        (port,) = api_server.free_ports(1)
        with played.operator(server, args.program) as operator, \
                played.Cluster(client, names.NAMESPACE, contestant.container) as pods, \
                dashboard(server, args.program, port) as page:
            yield (Jobs(client, contestant, names.NAMESPACE, pods, collect=True),
                   {"operator": operator.pid, "dashboard": page.pid})


@contextlib.contextmanager
def dashboard(server, program, port):
    with open(server.path("dashboard.log"), "wb") as log:
        process = subprocess.Popen(
            [program, "dashboard", f"--kubeconfig={server.kubeconfig}",
             f"--addr=127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            until("the dashboard to be ready", lambda: played.ready(port), poll_s=0.1)
            yield process
        finally:
            api_server.end(process)


@contextlib.contextmanager
def local_of(args):
    contestant = contestants.BY_NAME[KINDS[args.kind]]
    with tempfile.TemporaryDirectory(prefix="taas-memory-") as folder:
        own = os.path.join(folder, "cluster")
        with open(os.path.join(folder, "log"), "wb") as log:
            process = subprocess.Popen([args.program, "local", "up", "--dir", own],
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            kubeconfig = os.path.join(own, "kubeconfig")
            until("the local cluster", lambda: os.path.exists(kubeconfig), LOCAL_LIMIT_S)
            client = local_client(folder, kubeconfig)
            until("its API server", lambda: answers(client), LOCAL_LIMIT_S)
            with observer.PodObserver(client, "default") as pods:
                yield (Jobs(client, contestant, "default", pods, collect=False),
                       {"taas local up": process.pid})
        finally:
            api_server.end(process)
            # The pods would outlive it.
            subprocess.run([args.program, "local", "down", "--dir", own], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def local_client(folder, kubeconfig):
    def said(template):
        return subprocess.run(
            ["kubectl", "config", "view", "--raw", "--kubeconfig", kubeconfig,
             f"-o=jsonpath={template}"], check=True, capture_output=True, text=True).stdout

    ca = said("{.clusters[0].cluster.certificate-authority}")
    if not ca:
        ca = os.path.join(folder, "ca.crt")
        with open(ca, "w", encoding="utf-8") as file:
            data = said("{.clusters[0].cluster.certificate-authority-data}")
            file.write(base64.b64decode(data).decode())
    found = api_client.ApiClient(said("{.clusters[0].cluster.server}"), ca, None, None)
    found.headers = {"Authorization": "Bearer " + said("{.users[0].user.token}")}
    return found


def answers(client):
    try:
        client.call("GET", "/api/v1/namespaces/default/pods")
        return True
    except (OSError, api_client.Refused):
        return False


def main():
    args = arguments()
    steps = sorted({args.first, *(args.jobs * part // REPORTS for part in range(1, REPORTS + 1))})
    samples = {}
    with (local_of if args.local else cluster_of)(args) as (jobs, pids):
        for step in steps:
            jobs.come_and_go(step, args.alive)
            time.sleep(CALM_S)
            samples[step] = {name: usage.private_mb(pid) for name, pid in pids.items()}
            print(f"{step} jobs: " + ", ".join(
                f"{name} {figures.number(mb)} MB" for name, mb in samples[step].items()),
                  file=sys.stderr, flush=True)
    return report(samples, args)


def report(samples, args):
    lines, good = [], True
    for name, first in samples[args.first].items():
        last = samples[args.jobs][name]
        limit = max(GROWTH_SHARE * first, GROWTH_MB)
        good = good and last - first <= limit
        lines.append((name, figures.number(first), figures.number(last),
                      f"{last - first:+.1f}", f"≤ {limit:.1f}",
                      table.verdict(last - first <= limit)))
    print(table.markdown(("private memory, MB", f"after {args.first:,} jobs",
                          f"after {args.jobs:,}", "growth", "allowed", "met"), lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
